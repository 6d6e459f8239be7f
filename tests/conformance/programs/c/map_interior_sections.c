// covers: sections interior to a mapped array, at both ends, and several arrays side by side
#include <stdio.h>

enum { N = 100 };

int main(void) {
  static int a[N];
  for (int i = 0; i < N; i++) a[i] = i;
#pragma omp target data map(tofrom : a)
  {
#pragma omp target map(tofrom : a[20 : 10])
    for (int i = 20; i < 30; i++) a[i] = -a[i];
#pragma omp target map(tofrom : a[0 : 1])
    a[0] = 1000;
#pragma omp target map(tofrom : a[N - 1 : 1])
    a[N - 1] = 1001;
    int *p = a + 40;
#pragma omp target map(tofrom : p[0 : 10])
    for (int i = 0; i < 10; i++) p[i] *= 2;
#pragma omp target map(always, from : a[40 : 5]) map(always, to : a[60 : 2])
    a[60] += a[44];
    printf("%d %d %d\n", a[0], a[44], a[45]);
#pragma omp target update from(a[20 : 2])
    printf("%d %d %d\n", a[20], a[21], a[22]);
  }
  long sum = 0;
  for (int i = 0; i < N; i++) sum += (i + 1) * a[i];
  printf("%ld\n", sum);

  // Neighbours that are mapped one by one do not touch each other.
#pragma omp target enter data map(to : a[0 : 10])
#pragma omp target enter data map(to : a[10 : 10])
#pragma omp target enter data map(to : a[20 : 10])
#pragma omp target map(alloc : a[10 : 10])
  a[10] = a[19] = 5;
#pragma omp target exit data map(from : a[0 : 10])
#pragma omp target exit data map(from : a[20 : 10])
  printf("%d %d %d\n", a[9], a[10], a[20]);
#pragma omp target exit data map(from : a[10 : 10])
  printf("%d %d\n", a[10], a[19]);
  return 0;
}
