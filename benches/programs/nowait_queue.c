/* 20,000 empty `nowait` regions, then the one `taskwait` that awaits them all.
 * The host OpenMP library spreads them over its hidden helper threads, which
 * disturb each other when they look for work: the typical batch counts here. */
#include "bench.h"

enum { REGIONS = 20000, QUEUES = 12 };

int main(void) {
  int host = 1;
  double samples[QUEUES];
#pragma omp target map(from : host)
  host = 0;
  require(!host, "the region ran on the host");
  for (int queue = 0; queue < QUEUES; ++queue) {
    double start = now_ns();
    for (int i = 0; i < REGIONS; ++i) {
#pragma omp target nowait
      {}
    }
#pragma omp taskwait
    samples[queue] = (now_ns() - start) / REGIONS;
  }
  print_samples(samples, QUEUES);
  return 0;
}
