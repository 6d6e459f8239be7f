// A default device beyond the last: the host runs the construct, as for a number in a clause.
#include "check.h"
#include <omp.h>
#include <stdio.h>

int main(void) {
  for (int number = omp_get_num_devices(); number < omp_get_num_devices() + 3; ++number) {
    omp_set_default_device(number);
    int by_default = -1, by_clause = -1;
#pragma omp target map(tofrom : by_default)
    by_default = omp_is_initial_device();
#pragma omp target map(tofrom : by_clause) device(number)
    by_clause = omp_is_initial_device();
    CHECK(by_default == 1 && by_clause == 1);
#pragma omp target data map(by_default)
    CHECK(by_default == 1);
  }
  omp_set_default_device(0);
  int on_host = -1;
#pragma omp target map(tofrom : on_host)
  on_host = omp_is_initial_device();
  CHECK(on_host == 0);
  puts("passed");
  return 0;
}
