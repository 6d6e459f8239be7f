// Three arrays that do not fit onto the device together: nothing of the region stays there.
#include "device.h"
#include <cstdio>
#include <cstdlib>
#include <omp.h>

#ifdef __NVPTX__
#define ON_HOST 0
#else
#define ON_HOST 1
#endif

int main() {
  enum { SIZE = 40 << 20 };
  char *a = (char *)calloc(SIZE, 1), *b = (char *)calloc(SIZE, 1), *c = (char *)calloc(SIZE, 1);
  int device = omp_get_default_device(), on_host = 0;
#pragma omp target map(tofrom : a[0 : SIZE], b[0 : SIZE], c[0 : SIZE], on_host)
  {
    a[0] = b[0] = c[0] = 1;
    on_host = ON_HOST;
  }
  int left = omp_target_is_present(a, device) + omp_target_is_present(b, device);
  printf("host %d, left %d\n", on_host, left);
#pragma omp target map(tofrom : a[0 : SIZE])
  a[1] = 2;
  printf("%d %d\n", a[0], a[1]);
}
