// covers: target parallel for, parallel and for apart, lastprivate, linear, ordered, sections, single, master
#include <omp.h>
#include <stdio.h>

int main(void) {
  enum { N = 64 };
  int a[N], order[N], count = 0, last = 0, lin = 5, s[3] = {0}, once = 0, master = 0;
#pragma omp target parallel for map(from : a)
  for (int i = 0; i < N; i++) a[i] = 3 * i;
#pragma omp target map(tofrom : a, last)
  {
#pragma omp parallel num_threads(4)
#pragma omp for lastprivate(last)
    for (int i = 0; i < N; i++) {
      a[i] += 1;
      last = a[i];
    }
  }
  printf("%d %d\n", a[10], last);
#pragma omp target parallel for ordered map(tofrom : order, count) num_threads(4)
  for (int i = 0; i < N; i++) {
#pragma omp ordered
    order[count++] = i;
  }
  int sorted = count == N;
  for (int i = 0; i < N; i++) sorted &= order[i] == i;
  printf("ordered %d\n", sorted);
#pragma omp target parallel for linear(lin : 2) map(tofrom : a)
  for (int i = 0; i < N; i++) a[i] = lin;
  printf("linear %d\n", a[9]);
#pragma omp target map(tofrom : s, once, master)
#pragma omp parallel num_threads(3)
  {
#pragma omp sections
    {
#pragma omp section
      s[0] = 1;
#pragma omp section
      s[1] = 2;
#pragma omp section
      s[2] = 3;
    }
#pragma omp single
    once++;
#pragma omp masked
    master += omp_get_thread_num() + 1;
  }
  printf("%d%d%d %d %d\n", s[0], s[1], s[2], once, master);
  return 0;
}
