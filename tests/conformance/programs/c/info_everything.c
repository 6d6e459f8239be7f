// covers: all bits of LIBOMPTARGET_INFO, line by line, over one construct of each kind
//
// Not among them are structures with attached pointers, of which this library copies the
// bytes around the pointers, so that it tells of two copies where the stock library tells of one.
// env: LIBOMPTARGET_INFO=-1
// flags: -g -fopenmp-extensions -fopenmp-version=52
// stderr: equal
#include <stdio.h>

#pragma omp begin declare target
int global[10];
#pragma omp end declare target

static void present_and_new(void) {
  int a[100] = {0}, b = 1, sum = 0, *p = a;
#pragma omp target enter data map(to : a, b)
#pragma omp target map(tofrom : a, sum) map(to : b)
  sum = a[0] + b;
#pragma omp target map(p[0 : 10]) firstprivate(sum)
  p[0] += sum;
#pragma omp target map(present, alloc : a[2 : 4])
  a[2]++;
#pragma omp target update from(a) to(b)
#pragma omp target update to(a[1 : 2])
#pragma omp target map(always, tofrom : a) map(tofrom : global)
  global[0] = a[1]++;
#pragma omp target exit data map(from : a) map(release : b)
  printf("%d %d %d\n", sum, a[0], a[2]);
}

static void counts(void) {
  double d[8] = {0}, *h = d, *none = 0;
  int x[4] = {0};
#pragma omp target enter data map(alloc : x)
#pragma omp target enter data map(alloc : x)
#pragma omp target exit data map(delete : x)
#pragma omp target exit data map(release : x)
#pragma omp target data map(tofrom : d, x) use_device_addr(d)
#pragma omp target map(tofrom : h[0 : 8]) map(to : none[0 : 0])
  h[1] = 2;
#pragma omp target data map(ompx_hold, tofrom : x)
  {
#pragma omp target map(tofrom : x)
    x[1]++;
#pragma omp target exit data map(delete : x)
  }
#pragma omp target map(ompx_hold, tofrom : x)
  x[1]++;
  printf("%g %d\n", d[1], x[1]);
}

static void devices_and_teams(void) {
  int n = 3, sum = 0;
#pragma omp target enter data map(to : n) device(1)
#pragma omp target device(1)
  n++;
#pragma omp target exit data map(from : n) device(1)
#pragma omp target teams distribute parallel for reduction(+ : sum)
  for (int i = 0; i < 100; ++i)
    sum += i;
  printf("%d %d\n", n, sum);
}

int main(void) {
  present_and_new();
  counts();
  devices_and_teams();
  return 0;
}
