// Children that share, copy or replace the memory, while the device has something newer.
// with: openmp
// device: cpu
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { N = 1 << 14 };
extern char **environ;

static int end(pid_t child)
{
  int status = -1;
  return waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : 99;
}

int main(void)
{
  int *a = calloc(N, sizeof *a);
  char *text = malloc(1 << 15), *arguments[] = {text + 8192, 0};
  pid_t child;
  memset(text, 'x', 1 << 15);
  strcpy(text + 8192, "true");
#pragma omp target enter data map(to : a[0:N]) map(to : text[0:1 << 15])
#pragma omp target teams distribute parallel for
  for (int i = 0; i < N; ++i)
    a[i] = i + 1;
  if (!(child = fork())) {
    for (int i = 0; i < N; ++i)
      a[i] = i;
    long sum = 0;
    for (int i = 0; i < N; ++i)
      sum += a[i];
    _exit(sum != (long)N * (N - 1) / 2);
  }
  if (end(child))
    return 1;
  if (!(child = vfork())) {
    ((volatile int *)a)[6000] = 4;
    execlp("true", "true", (char *)0);
    _exit(8);
  }
  if (end(child) || ((volatile int *)a)[6000] != 4)
    return 2;
#pragma omp target teams distribute parallel for
  for (int i = 0; i < 1 << 15; ++i)
    text[i] = i >= 8192 && i < 8197 ? text[i] : 'z';
  if (posix_spawnp(&child, text + 8192, 0, 0, arguments, environ) || end(child) || system(text + 8192))
    return 3;
#ifndef WRONG
#pragma omp target update from(a[0:N])
#endif
  printf("%d\n", a[5000]); // finds: the host reads
#pragma omp target exit data map(delete : a[0:N], text[0:1 << 15])
  return 0;
}
