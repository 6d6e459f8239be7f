// covers: has_device_addr for scalars, arrays and structures that live on the device
// flags: -fopenmp-version=52
#include <omp.h>
#include <stdio.h>

struct pair {
  int a, b;
};

int main(void) {
  int n = 4, v[4] = {1, 2, 3, 4};
  struct pair pair = {10, 20};
#pragma omp target data map(tofrom : n, v, pair) use_device_addr(n, v, pair)
  {
#pragma omp target has_device_addr(n, v, pair)
    {
      for (int i = 0; i < n; i++) v[i] += pair.a;
      pair.b = v[3];
      n = 0;
    }
#pragma omp target teams distribute parallel for has_device_addr(v)
    for (int i = 0; i < 4; i++) v[i] *= 2;
  }
  printf("%d %d %d %d\n", n, v[0], v[3], pair.b);
  return 0;
}
