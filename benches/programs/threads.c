/* Two host threads launch at once, each with an array of its own: already
 * mapped (`present`) or mapped by every region (`fresh`). One operation is one
 * region on each thread; a runtime that scales takes as long for it as for one
 * region on one thread. */
#include "bench.h"
#include <omp.h>
#include <string.h>

#ifndef THREADS
#define THREADS 2
#endif
enum { LENGTH = 64 };

static void launch(void *context, long count) {
  double **array = context;
#pragma omp parallel num_threads(THREADS)
  {
    double *a = array[omp_get_thread_num()];
    for (long i = 0; i < count; ++i) {
#pragma omp target map(tofrom : a[0 : LENGTH])
      a[0] += 1.0;
    }
  }
}

static double cpu_ns(void) {
  struct timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

/* What a region takes of the processor, for the thread that needs more of it: on a busy machine, what
 * threads cost each other shows here, and waiting for a processor does not. */
static double best_cpu_ns(double **array) {
  enum { COUNT = 2000 };
  double best = 1e300;
  for (int batch = 0; batch < BATCHES; ++batch) {
    double most = 0.0;
#pragma omp parallel num_threads(THREADS) reduction(max : most)
    {
      double *a = array[omp_get_thread_num()];
      double start = cpu_ns();
      for (long i = 0; i < COUNT; ++i) {
#pragma omp target map(tofrom : a[0 : LENGTH])
        a[0] += 1.0;
      }
      most = (cpu_ns() - start) / COUNT;
    }
    best = most < best ? most : best;
  }
  return best;
}

int main(int argc, char **argv) {
  int present = argc > 1 && strcmp(argv[1], "present") == 0;
  double *array[THREADS];
  for (int t = 0; t < THREADS; ++t) {
    double *a = array[t] = calloc(LENGTH, sizeof(double));
#pragma omp target enter data map(to : a[0 : LENGTH]) if (present)
  }
  measure(launch, array);
  printf("cpu_ns %.3f\n", best_cpu_ns(array));
  for (int t = 0; t < THREADS; ++t) {
    double *a = array[t];
    require(!present || a[0] == 0.0, "the region ran on the host's copy");
#pragma omp target exit data map(from : a[0 : LENGTH]) if (present)
    require(null_kernels() || a[0] > 0.0, "a thread's region did not run");
    require(a[0] == array[0][0], "the threads did not run equally often");
  }
  return 0;
}
