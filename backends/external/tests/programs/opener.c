/* Opens and closes library.so, whose path is the first argument: each time anew,
 * its globals start again. */
#include "null_image.h"

#include <omp.h>

int main(int argc, char **argv)
{
  CHECK(argc == 2);
  int own = 0;
#pragma omp target map(tofrom : own)
  own++;
  CHECK(own == 1);
  const int devices = omp_get_num_devices();
  for (int round = 0; round < 3; round++) {
    void *library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    if (!library)
      fprintf(stderr, "%s\n", dlerror());
    CHECK(library);
    int (*use_it)(int) = (int (*)(int))dlsym(library, "use_it");
    for (int device = 0; device < devices; device++)
      CHECK(use_it(device) == 1 && use_it(device) == 2);
    CHECK(dlclose(library) == 0);
  }
  printf("done\n");
  return 0;
}
