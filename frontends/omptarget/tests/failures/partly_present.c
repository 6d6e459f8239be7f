// A section that overlaps what is mapped without being inside it.
// run: before args=before signal=ABRT
// run: after args=after signal=ABRT
// run: around args=around signal=ABRT
// run: before_without_debug_information args=before flags=-g0 signal=ABRT
#include <string.h>

int main(int argc, char **argv) {
  double table[100] = {0};
  const char *which = argv[argc - 1];
#pragma omp target enter data map(to : table[40 : 20])
  if (strcmp(which, "before") == 0) {
#pragma omp target map(tofrom : table[30 : 20])
    table[35] += 1;
  } else if (strcmp(which, "after") == 0) {
#pragma omp target map(tofrom : table[50 : 20])
    table[55] += 1;
  } else {
#pragma omp target enter data map(to : table[0 : 100])
  }
  return 0;
}
