// covers: zero-length array sections: of mapped data, of data that is not mapped, null, at the end
#include <stdio.h>
#include <stdlib.h>

int main(void) {
  int *p = malloc(8 * sizeof *p), out = 0;
  for (int i = 0; i < 8; i++) p[i] = i + 1;
#pragma omp target enter data map(to : p[0 : 8])
#pragma omp target map(alloc : p[0 : 0]) map(from : out)
  out = p[2];
  printf("attached to what is mapped: %d\n", out);
#pragma omp target map(tofrom : p[4 : 0]) map(from : out)
  out = p[4];
  printf("inside: %d\n", out);
  int *mid = p + 3;
#pragma omp target map(from : out)
  out = mid[1];
  printf("implicit, from the middle: %d\n", out);
#pragma omp target exit data map(delete : p[0 : 8])

  // Not mapped: the pointer keeps its host value, and the reference is not counted.
  int same = 0;
  unsigned long long bits = (unsigned long long)p;
#pragma omp target map(to : p[0 : 0]) map(from : same)
  same = (unsigned long long)p == bits;
  printf("not mapped, pointer kept: %d\n", same);
  int *null = NULL;
#pragma omp target map(to : null[0 : 0]) map(from : same)
  same = null == NULL;
  printf("null: %d\n", same);
#pragma omp target enter data map(to : p[0 : 0])
#pragma omp target exit data map(from : p[0 : 0])
#pragma omp target update to(p[0 : 0])
  printf("%d\n", p[0]);
  free(p);
  return 0;
}
