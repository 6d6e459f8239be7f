// covers: interop init (target, targetsync), use and destroy, the omp_get_interop functions
// stock: differs(-21) because it crashes
// flags: -fopenmp-version=51
#include <omp.h>
#include <stdio.h>

int main(void) {
  omp_interop_t sync = omp_interop_none, both = omp_interop_none;
#pragma omp interop init(targetsync : sync)
#pragma omp interop init(target, targetsync : both) device(1)
  printf("made %d %d\n", sync != omp_interop_none, both != omp_interop_none);
  int ret = -100;
  if (sync != omp_interop_none) {
    omp_intptr_t number = omp_get_interop_int(both, omp_ipr_device_num, &ret);
    printf("device %d, return %d\n", (int)number, ret);
    printf("properties %d\n", omp_get_num_interop_properties(sync));
    printf("first name %s\n", omp_get_interop_name(sync, omp_ipr_fr_id));
    printf("vendor name is text %d\n", omp_get_interop_str(sync, omp_ipr_vendor_name, &ret) != NULL);
  }
#pragma omp interop use(sync)
#pragma omp interop destroy(sync)
#pragma omp interop destroy(both)
  printf("destroyed %d %d\n", sync == omp_interop_none, both == omp_interop_none);
  return 0;
}
