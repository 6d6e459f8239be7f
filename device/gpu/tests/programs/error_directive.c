// `error at(execution)` says what and where; a fatal one ends the kernel.
#include "check.h"

int main(int argc, char **argv) {
  (void)argv;
  int reached = 0;
#pragma omp target map(tofrom : reached)
  {
    reached = 1;
#pragma omp error at(execution) severity(warning) message("the first")
    reached = 2;
#pragma omp error at(execution) severity(warning)
    if (argc > 1) {
#pragma omp error at(execution) severity(fatal) message("the last")
    }
    reached = 3;
  }
  CHECK(reached, 3);
  return finish();
}
