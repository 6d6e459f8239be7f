// covers: a library with device code opened, used and closed twice, by a program with device code of its own
// stock: differs(-21) because it ends when a library is opened a second time
// library: device_library.c
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

static void use(int round) {
  void *library = dlopen(getenv("CONFORMANCE_LIBRARY"), RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    printf("%s\n", dlerror());
    exit(1);
  }
  int (*run)(int *, int) = (int (*)(int *, int))dlsym(library, "library_run");
  int (*sum)(const int *, int) = (int (*)(const int *, int))dlsym(library, "library_sum");
  int v[4] = {1, 2, 3, 4};
  printf("round %d: %d", round, run(v, 4));
  printf(" %d", run(v, 4));
  printf(" sum %d\n", sum(v, 4));
  printf("closed: %d\n", dlclose(library));
}

int main(void) {
  int x = 1;
#pragma omp target map(tofrom : x)
  x += 1;
  use(1);
#pragma omp target map(tofrom : x)
  x *= 10;
  use(2);
#pragma omp target map(tofrom : x)
  x += 1;
  printf("own regions still run: %d\n", x);
  return 0;
}
