// covers: a limit of 4 GiB on the address space, set before the first region
#include <stdio.h>
#include <sys/resource.h>

int main(void) {
  struct rlimit limit = {4ul << 30, 4ul << 30};
  setrlimit(RLIMIT_AS, &limit);
  static double a[100000];
#pragma omp target teams distribute parallel for map(tofrom : a)
  for (int i = 0; i < 100000; i++) a[i] += i;
  printf("%g\n", a[99999]);
  return 0;
}
