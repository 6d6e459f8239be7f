// covers: interop constructs wait for their dependences, also those of an object that is none
// flags: -fopenmp-version=51
// stock: differs because an object that is none makes its interop constructs ignore their dependences
#include <omp.h>
#include <stdio.h>
#include <sched.h>

enum { ROUNDS = 20 };

// Runs until somebody else has had every chance to go on too early.
static void dawdle(void) {
  for (int i = 0; i < 200; ++i)
    sched_yield();
}

int main(void) {
  int early[4] = {0};
  for (int round = 0; round < ROUNDS; ++round) {
#pragma omp parallel num_threads(4)
#pragma omp single
    {
      for (int which = 0; which < 4; ++which) {
        int done = 0;
        omp_interop_t object = omp_interop_none;
#pragma omp task depend(out : done) shared(done)
        {
          dawdle();
#pragma omp atomic write
          done = 1;
        }
        switch (which) {
        case 0: {
#pragma omp interop init(targetsync : object) depend(in : done)
          break;
        }
        case 1: {
#pragma omp interop init(target, targetsync : object) depend(in : done)
          break;
        }
        case 2: {
#pragma omp interop use(object) depend(in : done)
          break;
        }
        default: {
#pragma omp interop destroy(object) depend(in : done)
        }
        }
        int seen;
#pragma omp atomic read
        seen = done;
        early[which] += !seen;
#pragma omp taskwait
      }
    }
  }
  printf("too early: targetsync %d, both %d, use %d, destroy %d\n", early[0], early[1], early[2], early[3]);
  return 0;
}
