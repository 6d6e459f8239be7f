// `present` without the data being present, in every construct that takes it.
// run: target args=target signal=ABRT
// run: target_without_debug_information args=target flags=-g0 signal=ABRT
// run: enter_data args=enter signal=ABRT
// run: exit_data args=exit signal=ABRT
// run: update_to args=to signal=ABRT
// run: update_from args=from signal=ABRT
#include <string.h>

static int mapped[8];

int main(int argc, char **argv) {
  int grid[16] = {0};
  const char *which = argv[argc - 1];
#pragma omp target enter data map(to : mapped)
  if (strcmp(which, "target") == 0) {
#pragma omp target map(present, tofrom : grid)
    grid[0] = 1;
  } else if (strcmp(which, "enter") == 0) {
#pragma omp target enter data map(present, to : grid[4 : 8])
  } else if (strcmp(which, "exit") == 0) {
#pragma omp target exit data map(present, from : grid)
  } else if (strcmp(which, "to") == 0) {
#pragma omp target update to(present : grid[0 : 4])
  } else {
#pragma omp target update from(present : grid)
  }
  return 0;
}
