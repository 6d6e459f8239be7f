// covers: omp_target_is_present, omp_target_is_accessible, omp_get_mapped_ptr with their edge cases
#include <omp.h>
#include <stdio.h>

int main(void) {
  int a[10] = {0}, d = omp_get_default_device(), host = omp_get_initial_device();
  printf("before: %d %d\n", omp_target_is_present(a, d), omp_get_mapped_ptr(a, d) == NULL);
#pragma omp target data map(to : a[2 : 4])
  {
    for (int i = 0; i < 8; i++)
      printf("%d: %d %d\n", i, omp_target_is_present(&a[i], d), omp_get_mapped_ptr(&a[i], d) != NULL);
    char *first = omp_get_mapped_ptr(&a[2], d), *third = omp_get_mapped_ptr(&a[4], d);
    printf("distance %d\n", (int)(third - first));
    printf("on another device: %d\n", omp_target_is_present(&a[2], d + 1));
  }
  printf("after: %d\n", omp_target_is_present(&a[2], d));
  printf("host: %d %d\n", omp_target_is_present(a, host), omp_get_mapped_ptr(a, host) == (void *)a);
  printf("null: %d %d\n", omp_target_is_present(NULL, d), omp_get_mapped_ptr(NULL, d) == NULL);
  printf("accessible from the host: %d\n", omp_target_is_accessible(a, sizeof a, host));
  return 0;
}
