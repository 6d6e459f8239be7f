// A region that accesses what is not there, that aborts, or whose assertion fails: the argument says which.
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
  char what = argc > 1 ? argv[1][0] : 'n';
  int *nowhere = 0;
#pragma omp target firstprivate(nowhere)
  {
    if (what == 'n') nowhere[2] = 1;
    if (what == 'b') abort();
    assert(what != 'a');
  }
  puts("not reached");
  return 0;
}
