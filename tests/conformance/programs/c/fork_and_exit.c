// covers: a child that leaves through exit(3) with exit handlers, children of several generations
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static int plus_one(int x) {
#pragma omp target map(tofrom : x)
  x++;
  return x;
}

static int generation(int depth) {
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) {
    int value = plus_one(depth);
    printf("generation %d: %d\n", depth, value);
    if (depth < 3) value += generation(depth + 1);
    exit(value);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 100 + WTERMSIG(status);
}

int main(void) {
  printf("%d\n", plus_one(0));
  int total = generation(1);
  printf("%d\n", total);
  printf("%d\n", plus_one(40));
  return 0;
}
