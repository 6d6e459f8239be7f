// A team enters one region for its whole share of a loop, also if it has fewer threads than the kernel's
// bound, of which clang and LLVM have made the size of a chunk.
#include "check.h"
#include <unistd.h>

// A private copy counts as one: the result tells how many there have been.
#pragma omp declare reduction(copies : long : omp_out += omp_in) initializer(omp_priv = 1)

int main(int argc, char **argv) {
  if (!getenv("OMP_TEAMS_THREAD_LIMIT")) {
    setenv("OMP_TEAMS_THREAD_LIMIT", "32", 1);
    execv("/proc/self/exe", argv);
    return 1;
  }
  long made = 0;
#pragma omp target teams distribute parallel for reduction(copies : made) num_teams(2)
  for (int i = 0; i < 128 * 64; ++i) made += i < 0;
  CHECK(made <= 2 * (2 * 32), 1);
  return finish();
}
