#include "histogram.h"

static void enter(void) {
#pragma omp target enter data map(to : samples_of, counts)
}

static void run(void) {
#pragma omp target teams distribute thread_limit(128)
  for (int part = 0; part < PARTS; ++part) {
    unsigned bins[BINS];
#pragma omp parallel
    {
#pragma omp for
      for (int bin = 0; bin < BINS; ++bin)
        bins[bin] = 0;
#pragma omp for
      for (int i = part * PART; i < (part + 1) * PART; ++i) {
#pragma omp atomic
        ++bins[samples_of[i]];
      }
#pragma omp for
      for (int bin = 0; bin < BINS; ++bin) {
#pragma omp atomic
        counts[bin] += bins[bin];
      }
    }
  }
}

static void leave(void) {
#pragma omp target exit data map(from : counts) map(release : samples_of)
}
