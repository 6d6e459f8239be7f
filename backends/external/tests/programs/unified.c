/* What is done on a device when an image has been loaded: with unified shared
 * memory, globals lead to the host's; a function to be called indirectly gets its
 * device address. */
#include "null_image.h"

#include <omp.h>

#pragma omp requires unified_shared_memory
#pragma omp begin declare target
static int table[4] = {1, 2, 3, 4};
#pragma omp end declare target
#pragma omp begin declare target indirect
int thrice(int value) { return 3 * value; }
#pragma omp end declare target

int main(void)
{
  int (*function)(int) = thrice;
  int *heap = malloc(sizeof *heap);
  for (int device = 0; device < omp_get_num_devices(); device++) {
    *heap = device;
    table[2] = 30;
#pragma omp target device(device)
    {
      *heap += table[2];
      table[1] = function(device);
    }
    CHECK(*heap == device + 30 && table[1] == 3 * device);
  }
  printf("done\n");
  return 0;
}
