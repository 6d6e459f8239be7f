// covers: fork before the device is used; parent and child each offload
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static int twice(int x) {
#pragma omp target map(tofrom : x)
  x *= 2;
  return x;
}

int main(void) {
  pid_t child = fork();
  if (child == 0) {
    printf("child %d\n", twice(4));
    fflush(stdout);
    _exit(twice(6));
  }
  int status = 0;
  waitpid(child, &status, 0);
  printf("child ended with %d\n", WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status));
  printf("parent %d\n", twice(50));
  return 0;
}
