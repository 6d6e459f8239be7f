// Updating what is not mapped: the specification ignores it, GANGWAY_CHECK tells.
// run: check GANGWAY_CHECK=1 exit=0
// run: quiet exit=0
#include <stdlib.h>

int main(void) {
  int known[4] = {0}, other[4] = {0};
  int *heap = malloc(64 * sizeof(int));
#pragma omp target enter data map(to : known, heap[0 : 32])
#pragma omp target update to(known, other)
#pragma omp target update from(heap[16 : 32])
#pragma omp target exit data map(delete : known, heap[0 : 32])
  free(heap);
  return 0;
}
