// Unmapping what was never mapped: the specification ignores it, GANGWAY_CHECK
// tells.
// run: check GANGWAY_CHECK=1 exit=0
// run: quiet exit=0
#include <stdlib.h>

int main(void) {
  int known[4] = {0}, other[4] = {0};
  int *heap = malloc(64 * sizeof(int));
#pragma omp target enter data map(to : known)
#pragma omp target exit data map(delete : other)
#pragma omp target exit data map(release : heap[0 : 64])
#pragma omp target exit data map(from : known)
#pragma omp target exit data map(from : known)
  free(heap);
  return 0;
}
