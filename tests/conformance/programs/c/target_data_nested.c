// covers: nested target data, the same variable at several levels, partial sections inside
#include <omp.h>
#include <stdio.h>

int main(void) {
  int a[20], b = 1;
  for (int i = 0; i < 20; i++) a[i] = i;
#pragma omp target data map(to : a)
  {
#pragma omp target data map(tofrom : a[5 : 5]) map(tofrom : b)
    {
#pragma omp target data map(from : a[6 : 1])
#pragma omp target map(tofrom : b)
      {
        a[6] = 60;
        b = 2;
      }
      printf("%d %d\n", a[6], b);
    }
    printf("%d %d\n", a[6], b);
#pragma omp target update from(a[6 : 1])
    printf("%d\n", a[6]);
  }
  printf("%d %d\n", a[6], omp_target_is_present(a, 0));
  return 0;
}
