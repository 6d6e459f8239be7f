// covers: requires unified_shared_memory: host pointers are used on the device without maps
#include <stdio.h>
#include <stdlib.h>

#pragma omp requires unified_shared_memory

#pragma omp begin declare target
int global = 4;
#pragma omp end declare target

int main(void) {
  int *p = malloc(10 * sizeof *p), local = 3;
  for (int i = 0; i < 10; i++) p[i] = i;
#pragma omp target
  for (int i = 0; i < 10; i++) p[i] += 100;
  printf("%d %d\n", p[0], p[9]);
  int *q = &local;
#pragma omp target map(tofrom : p[0 : 10])
  {
    *q += p[1];
    p[2] = 0;
  }
  printf("%d %d\n", local, p[2]);
#pragma omp target enter data map(to : p[0 : 10])
  p[5] = 55;
  int seen = 0;
#pragma omp target map(from : seen)
  seen = p[5];
  printf("host writes are seen: %d\n", seen);
#pragma omp target exit data map(delete : p[0 : 10])
#pragma omp target map(always, tofrom : global)
  global *= 3;
  printf("%d\n", global);
#pragma omp target data map(tofrom : p[0 : 10]) use_device_ptr(p)
  printf("%d\n", p[9]);
  free(p);
  return 0;
}
