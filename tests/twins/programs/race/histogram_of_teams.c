// A histogram of each team, which is added to that of all: atomically, or not.
// with: openmp
#include <stdio.h>

enum { N = 4096, BINS = 16 };
static unsigned char data[N];

int main(void)
{
  unsigned bins[BINS] = {0};
  for (int i = 0; i < N; ++i)
    data[i] = (i * 31 + i / 7) % 256;
#pragma omp target teams num_teams(4) thread_limit(64) map(to: data) map(tofrom: bins)
  {
    unsigned own[BINS];
#pragma omp distribute
    for (int part = 0; part < 4; ++part) {
#pragma omp parallel
      {
#pragma omp for
        for (int b = 0; b < BINS; ++b)
          own[b] = 0;
#pragma omp for
        for (int i = part * (N / 4); i < (part + 1) * (N / 4); ++i) {
#pragma omp atomic
          own[data[i] % BINS] += 1;
        }
#pragma omp for
        for (int b = 0; b < BINS; ++b) {
#ifndef WRONG
#pragma omp atomic
#endif
          bins[b] += own[b]; // finds
        }
      }
    }
  }
  printf("%u\n", bins[3]);
  return 0;
}
