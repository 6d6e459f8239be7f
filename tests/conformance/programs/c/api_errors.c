// covers: memory routines with wrong arguments return an error and change nothing
#include <omp.h>
#include <stdio.h>

int main(void) {
  int host = omp_get_initial_device();
  int x = 5, y = 6;
  size_t one[1] = {1}, zero[1] = {0}, two[1] = {2};
  printf("%d\n", omp_target_memcpy(NULL, NULL, 4, 0, 0, host, host) != 0);
  printf("%d\n", omp_target_memcpy_rect(&x, &y, 0, 1, one, zero, zero, two, two, host, host) != 0);
  printf("%d\n", omp_target_memcpy_rect(&x, &y, 4, 0, one, zero, zero, two, two, host, host) != 0);
  printf("%d\n", omp_target_memcpy_rect(&x, &y, 4, 1, NULL, zero, zero, two, two, host, host) != 0);
  printf("%d\n", omp_target_associate_ptr(NULL, &x, 4, 0, 0) != 0);
  printf("%d\n", omp_target_associate_ptr(&x, NULL, 4, 0, 0) != 0);
  printf("%d\n", omp_target_associate_ptr(&x, &y, 0, 0, 0) != 0);
  printf("%d\n", omp_target_associate_ptr(&x, &y, 4, 0, host) != 0);
  printf("%d\n", omp_target_disassociate_ptr(NULL, 0) != 0);
  printf("%d\n", omp_target_disassociate_ptr(&x, 0) != 0);
  printf("%d\n", omp_target_disassociate_ptr(&x, host) != 0);
  printf("%d\n", omp_target_is_present(&x, 0));
  printf("%d %d\n", x, y);
  return 0;
}
