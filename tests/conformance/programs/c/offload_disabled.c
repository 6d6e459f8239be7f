// covers: OMP_TARGET_OFFLOAD=DISABLED: no devices, everything on the host
// stock: differs(19) because it counts devices that it does not use
// env: OMP_TARGET_OFFLOAD=DISABLED
#include <omp.h>
#include <stdio.h>

int main(void) {
  int a[2] = {1, 2}, host = 0;
  printf("devices %d initial %d\n", omp_get_num_devices(), omp_get_initial_device());
#pragma omp target data map(to : a)
  {
#pragma omp target map(from : host)
    {
      a[0] = 5;
      host = omp_is_initial_device();
    }
#pragma omp target update from(a)
  }
  printf("%d %d\n", a[0], host);
  printf("present on the host: %d\n", omp_target_is_present(a, omp_get_initial_device()));
  void *p = omp_target_alloc(16, omp_get_initial_device());
  printf("allocated: %d\n", p != NULL);
  omp_target_free(p, omp_get_initial_device());
  return 0;
}
