// covers: regions and data directives on the host device, where maps do nothing; the host as default device
#include <omp.h>
#include <stdio.h>

int main(void) {
  int a[3] = {1, 2, 3}, on_host = -1, host = omp_get_initial_device();
#pragma omp target device(host) map(tofrom : a) map(from : on_host)
  {
    a[0] = 10;
    on_host = omp_is_initial_device();
  }
  printf("%d %d\n", a[0], on_host);
#pragma omp target data device(host) map(to : a)
  {
#pragma omp target device(host)
    a[1] = 20;
    printf("%d\n", a[1]);
  }
#pragma omp target enter data device(host) map(to : a)
#pragma omp target update device(host) to(a)
#pragma omp target exit data device(host) map(delete : a)
#pragma omp target device(omp_get_initial_device()) map(to : a)
  a[2] = 30;
  printf("%d, present %d\n", a[2], omp_target_is_present(a, host));
#pragma omp target map(tofrom : a) map(from : on_host)
  on_host = omp_is_initial_device();
  printf("default device is the host: %d\n", on_host);
  omp_set_default_device(host);
#pragma omp target map(tofrom : a) map(from : on_host)
  {
    on_host = omp_is_initial_device();
    a[0]++;
  }
  printf("now it is: %d %d\n", on_host, a[0]);
  return 0;
}
