// covers: omp_target_associate_ptr and omp_target_disassociate_ptr, with maps of the associated data
#include <omp.h>
#include <stdio.h>

int main(void) {
  int d = omp_get_default_device(), host = omp_get_initial_device();
  int a[8], back[10];
  for (int i = 0; i < 8; i++) a[i] = i;
  int *p = omp_target_alloc(10 * sizeof *p, d);
  omp_target_memset(p, 0, 10 * sizeof *p, d);
  printf("associate %d\n", omp_target_associate_ptr(a, p, sizeof a, 2 * sizeof *p, d));
  printf("present %d, mapped %d\n", omp_target_is_present(a, d), omp_get_mapped_ptr(a, d) == (void *)(p + 2));
#pragma omp target map(tofrom : a)
  a[0] += 100;
  printf("no copies: %d\n", a[0]);
#pragma omp target update to(a[1 : 7])
#pragma omp target map(always, from : a)
  for (int i = 0; i < 8; i++) a[i] += 1;
  for (int i = 0; i < 8; i++) printf("%d ", a[i]);
  printf("\n");
  printf("again, the same: %d\n", omp_target_associate_ptr(a, p, sizeof a, 2 * sizeof *p, d));
  printf("again, another: %d\n", omp_target_associate_ptr(a, p, sizeof a, 0, d) != 0);
#pragma omp target exit data map(delete : a)
  printf("delete leaves it: %d\n", omp_target_is_present(a, d));
  printf("disassociate %d\n", omp_target_disassociate_ptr(a, d));
  printf("present %d\n", omp_target_is_present(a, d));
  printf("twice: %d\n", omp_target_disassociate_ptr(a, d) != 0);
#pragma omp target data map(to : a)
  printf("of a mapped one: %d\n", omp_target_disassociate_ptr(a, d) != 0);
  omp_target_memcpy(back, p, sizeof back, 0, 0, host, d);
  for (int i = 0; i < 10; i++) printf("%d ", back[i]);
  printf("\n");
  omp_target_free(p, d);
  return 0;
}
