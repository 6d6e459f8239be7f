/* A shared library with a region and a global, to be opened and closed. */
#include "null_image.h"

#include <omp.h>

#pragma omp begin declare target
int uses = 0;
#pragma omp end declare target

int use_it(int device)
{
  int seen = -1;
#pragma omp target device(device) map(from : seen)
  seen = ++uses;
  return seen;
}
