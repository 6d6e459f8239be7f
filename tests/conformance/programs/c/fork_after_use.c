// covers: fork after the parent used the device: the child offloads, with its copy of the parent's mappings
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static int data[16];

static int step(int by) {
  int sum = 0;
#pragma omp target map(alloc : data) map(tofrom : sum)
  for (int i = 0; i < 16; i++) {
    data[i] += by;
    sum += data[i];
  }
  return sum;
}

int main(void) {
#pragma omp target enter data map(to : data)
  printf("parent %d\n", step(1));
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) {
    printf("child %d\n", step(10));
    int fresh[4] = {1, 2, 3, 4};
#pragma omp target map(tofrom : fresh)
    fresh[0] = 7;
    printf("child %d\n", fresh[0]);
    fflush(stdout);
    _exit(11);
  }
  int status = 0;
  waitpid(child, &status, 0);
  printf("child ended with %d\n", WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status));
  printf("parent %d\n", step(100));
#pragma omp target exit data map(from : data)
  printf("parent %d\n", data[3]);
  return 0;
}
