// A pointer in a mapped structure, to what nobody has mapped: GANGWAY_CHECK tells, once, and
// of no pointer that has been attached, that is null, or that points to constants.
// run: told GANGWAY_CHECK=1 exit=0
// run: quiet exit=0
#include <stdio.h>
#include <stdlib.h>

struct vector {
  int count;
  double *data;
  const char *name;
  struct vector *next;
};

int main(void) {
  struct vector x = {100, calloc(100, sizeof(double)), "x", NULL};
  for (int round = 0; round < 2; round++) {
#pragma omp target map(tofrom : x)
    for (int i = 0; i < x.count; i++)
      x.data[i] += 1;
  }
#pragma omp target map(tofrom : x, x.data[0 : x.count])
  for (int i = 0; i < x.count; i++)
    x.data[i] += 1;
  if (x.data[99] != 3)
    fprintf(stderr, "%g\n", x.data[99]);
  return 0;
}
