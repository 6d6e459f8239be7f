/* Device memory is exhausted half-way through a map: what has been mapped is unmapped, the host
   takes the region over, and the program goes on. */
#include "check.h"
#include <omp.h>
#include <stdlib.h>

enum { SMALL = 1000 };
#define HUGE_LENGTH (1L << 30)

int main(void)
{
  int first[SMALL], second[SMALL], device = omp_get_default_device(), on_host = 0;
  char *huge = malloc(HUGE_LENGTH); /* never touched as a whole */
  for (int round = 0; round < 20; round++) {
    for (int i = 0; i < SMALL; i++)
      first[i] = second[i] = i;
#pragma omp target map(tofrom : first, second, on_host) map(alloc : huge[0 : HUGE_LENGTH])
    {
      on_host = omp_is_initial_device();
      first[3] += second[4];
    }
    CHECK(on_host && first[3] == 7);
    CHECK(!omp_target_is_present(first, device) && !omp_target_is_present(second, device));
    CHECK(!omp_target_is_present(huge, device) && !omp_target_is_present(huge + HUGE_LENGTH / 2, device));
#pragma omp target map(tofrom : first, second, on_host)
    {
      on_host = omp_is_initial_device();
      first[3] += second[4];
    }
    CHECK(!on_host && first[3] == 11);
  }
  free(huge);
  puts("passed");
}
