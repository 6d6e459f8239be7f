// covers: a library with device code opened by a program that has nothing to do with OpenMP, and closed
// library: device_library.c
// plain: yes
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

int main(void) {
  for (int round = 0; round < 2; round++) {
    void *library = dlopen(getenv("CONFORMANCE_LIBRARY"), RTLD_NOW);
    if (!library) {
      printf("%s\n", dlerror());
      return 1;
    }
    int (*run)(int *, int) = (int (*)(int *, int))dlsym(library, "library_run");
    int (*sum)(const int *, int) = (int (*)(const int *, int))dlsym(library, "library_sum");
    int v[3] = {5, 6, 7};
    int calls = run(v, 3);
    printf("%d %d %d\n", calls, sum(v, 3), v[2]);
    printf("closed: %d\n", dlclose(library));
  }
  return 0;
}
