#include "histogram.h"

static void enter(void) {
#pragma acc enter data copyin(samples_of, counts)
}

static void run(void) {
#pragma acc parallel loop gang vector_length(128) default(present)
  for (int part = 0; part < PARTS; ++part) {
    unsigned bins[BINS];
#pragma acc loop vector
    for (int bin = 0; bin < BINS; ++bin)
      bins[bin] = 0;
#pragma acc loop vector
    for (int i = part * PART; i < (part + 1) * PART; ++i) {
#pragma acc atomic
      ++bins[samples_of[i]];
    }
#pragma acc loop vector
    for (int bin = 0; bin < BINS; ++bin) {
#pragma acc atomic
      counts[bin] += bins[bin];
    }
  }
}

static void leave(void) {
#pragma acc exit data copyout(counts) delete (samples_of)
}
