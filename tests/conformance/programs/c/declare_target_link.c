// covers: declare target link variables: mapped explicitly, implicitly, and used from functions
#include <omp.h>
#include <stdio.h>

int big[100];
int scale = 2;
double *unused;
#pragma omp declare target link(big, scale)

#pragma omp begin declare target
int element(int i) { return big[i] * scale; }
#pragma omp end declare target

int main(void) {
  for (int i = 0; i < 100; i++) big[i] = i;
  printf("before: %d\n", omp_target_is_present(big, 0));
  int out = 0;
#pragma omp target map(to : big, scale) map(from : out)
  out = element(10);
  printf("%d\n", out);
#pragma omp target enter data map(to : big, scale)
  printf("mapped: %d\n", omp_target_is_present(big, 0));
#pragma omp target
  for (int i = 0; i < 100; i++) big[i] = element(i) + 1;
  scale = 3;
#pragma omp target update to(scale)
#pragma omp target map(from : out)
  out = element(99);
  printf("%d\n", out);
#pragma omp target exit data map(from : big) map(delete : scale)
  printf("%d %d, after: %d\n", big[50], big[99], omp_target_is_present(big, 0));
  return 0;
}
