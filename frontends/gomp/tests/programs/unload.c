/* A library with device code is closed while what it has mapped is still mapped, and opened again. */
#include "check.h"
#include <dlfcn.h>
#include <omp.h>

static int list[100];

int main(void)
{
  int device = omp_get_default_device();
  for (int round = 1; round <= 5; round++) {
    void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
    CHECK(library);
    void (*begin)(int *, int) = (void (*)(int *, int))dlsym(library, "begin");
    int (*count)(void) = (int (*)(void))dlsym(library, "count");
    begin(list, 100);
    /* Its variables are new each time. */
    CHECK(count() == 1 && count() == 2);
    CHECK(dlclose(library) == 0);
    /* What it has mapped is the program's. */
    CHECK(omp_target_is_present(list, device));
#pragma omp target
    list[7] += 10;
#pragma omp target exit data map(from : list)
    CHECK(list[7] == 11 * round && !omp_target_is_present(list, device));
  }
  puts("passed");
}
