// covers: hundreds of target nowait regions in flight, on all devices, shared present data, firstprivate
#include <omp.h>
#include <stdio.h>

int main(void) {
  enum { N = 400 };
  static int out[N];
  int devices = omp_get_num_devices();
  for (int d = 0; d < devices; d++) {
#pragma omp target enter data map(to : out) device(d)
  }
#pragma omp parallel num_threads(3)
#pragma omp single
  for (int i = 0; i < N; i++) {
#pragma omp target nowait device(i % devices) firstprivate(i)
    out[i] = i * i % 101;
  }
  long sum = 0;
  for (int d = 0; d < devices; d++) {
#pragma omp target exit data map(from : out) device(d)
    for (int i = d; i < N; i += devices) sum += out[i] * (i + 1L);
  }
  printf("%ld\n", sum);
  return 0;
}
