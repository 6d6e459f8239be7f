#include <omp.h>
#include <stdio.h>
int main(void) {
  int value = 41, on_host = 1;
#pragma omp target map(tofrom : value, on_host)
  {
    value += 1;
    on_host = omp_is_initial_device();
  }
  printf("%d %s\n", value, on_host ? "host" : "device");
  return value != 42 || on_host;
}
