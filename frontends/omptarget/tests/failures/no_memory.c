// Sections that no memory can have: a length that is negative, a pointer that is null.
// run: negative args=negative signal=ABRT
// run: negative_data args=negative_data signal=ABRT
// run: null args=null signal=ABRT
// run: nothing args=nothing exit=0
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv) {
  const char *which = argv[argc - 1];
  int values[10] = {0}, length = atoi("-5"), *numbers = values, *null = NULL;
  if (strcmp(which, "negative") == 0) {
#pragma omp target map(tofrom : numbers[0 : length])
    numbers[0] = 1;
  }
  if (strcmp(which, "negative_data") == 0) {
#pragma omp target enter data map(alloc : numbers[5 : length])
  }
  if (strcmp(which, "null") == 0) {
#pragma omp target map(tofrom : null[0 : 10])
    null[0] = 1;
  }
  // Nothing of these is read or written.
  length = atoi("0");
#pragma omp target map(tofrom : null[0 : length], numbers[0 : length])
  (void)(null + numbers[0]);
#pragma omp target exit data map(release : numbers[0 : atoi("-5")], null[0 : 10])
  return 0;
}
