// covers: an OMPT tool sees devices initialised, loaded and finalised around their use
// tool: ompt_tool_devices.c
#include <stdio.h>

int main(void) {
  int a[4] = {0};
#pragma omp target map(tofrom : a)
  a[0] = 1;
#pragma omp target data map(tofrom : a) device(2)
#pragma omp target device(2)
  a[1] = 2;
#pragma omp target enter data map(to : a) device(1)
#pragma omp target device(1)
  a[1] = 2;
  printf("%d %d\n", a[0], a[1]);
  return 0;
}
