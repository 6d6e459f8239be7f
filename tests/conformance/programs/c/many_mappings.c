// covers: thousands of mappings alive at once, found from any address inside, freed in another order
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

int main(void) {
  enum { N = 3000 };
  int *p[N];
  long sum = 0;
  for (int i = 0; i < N; i++) {
    int n = 3 + i % 5;
    p[i] = malloc(n * sizeof(int));
    for (int k = 0; k < n; k++) p[i][k] = i + k;
    int *q = p[i];
#pragma omp target enter data map(to : q[0 : n])
  }
  int present = 0;
  for (int i = 0; i < N; i++) present += omp_target_is_present(&p[i][2], 0);
  for (int i = 0; i < N; i += 7) {
    int *mid = p[i] + 1;
#pragma omp target map(tofrom : mid[0 : 2])
    mid[1] = -i;
  }
  for (int s = 0; s < 11; s++)
    for (int i = s; i < N; i += 11) {
      int *q = p[i];
      int n = 3 + i % 5;
#pragma omp target exit data map(from : q[0 : n])
      sum += q[2] * (i % 13 + 1L);
      free(q);
    }
  printf("%d %ld\n", present, sum);
  return 0;
}
