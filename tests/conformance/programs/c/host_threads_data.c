// covers: host threads that map, update and unmap their own and shared data at the same time, per device
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

int main(void) {
  enum { T = 6, N = 500 };
  static int shared_data[256];
  long sums[T] = {0};
  int devices = omp_get_num_devices();
#pragma omp parallel num_threads(T)
  {
    int me = omp_get_thread_num(), d = me % devices;
    double *p = malloc(N * sizeof *p);
    for (int i = 0; i < N; i++) p[i] = me;
    for (int r = 0; r < 30; r++) {
#pragma omp target enter data map(to : p[0 : N]) map(to : shared_data) device(d)
#pragma omp target device(d)
      for (int i = 0; i < N; i++) p[i] += 1;
      if (r % 3 == 0) {
#pragma omp target update from(p[0 : 1]) device(d)
      }
#pragma omp target exit data map(from : p[0 : N]) map(release : shared_data) device(d)
    }
    for (int i = 0; i < N; i++) sums[me] += (long)p[i];
    free(p);
  }
  for (int i = 0; i < T; i++) printf("%ld\n", sums[i]);
  for (int d = 0; d < devices; d++) printf("%d", omp_target_is_present(shared_data, d));
  printf("\n");
  return 0;
}
