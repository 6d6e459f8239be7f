// covers: a program that closes every file descriptor it did not open, before and after the first region
#include <stdio.h>
#include <unistd.h>

int main(void) {
  int x = 1;
  close(0);
  for (int fd = 3; fd < 1024; fd++) close(fd);
#pragma omp target map(tofrom : x)
  x += 1;
  for (int fd = 3; fd < 1024; fd++) close(fd);
#pragma omp target device(1) map(tofrom : x)
  x *= 10;
  printf("%d\n", x);
  return 0;
}
