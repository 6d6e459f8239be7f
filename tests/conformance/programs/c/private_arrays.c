// covers: private and firstprivate arrays per thread and per team, large private arrays, VLAs
// env: LIBOMPTARGET_STACK_SIZE=131072
#include <stdio.h>

int main(void) {
  enum { N = 40 };
  int out[N], seed[16], scratch[2000];
  for (int i = 0; i < 16; i++) seed[i] = i * i;
#pragma omp target teams distribute parallel for private(scratch) firstprivate(seed) map(from : out)
  for (int i = 0; i < N; i++) {
    for (int k = 0; k < 2000; k++) scratch[k] = k % 16 == i % 16 ? seed[k % 16] : 0;
    int sum = 0;
    for (int k = 0; k < 2000; k++) sum += scratch[k];
    out[i] = sum;
  }
  long check = 0;
  for (int i = 0; i < N; i++) check += out[i] * (i + 1L);
  printf("%ld\n", check);
  int n = 20;
  int vla[n];
  for (int i = 0; i < n; i++) vla[i] = i;
  int sum = 0;
#pragma omp target firstprivate(vla) map(tofrom : sum)
  for (int i = 0; i < n; i++) {
    vla[i] += 1;
    sum += vla[i];
  }
  printf("%d %d\n", sum, vla[3]);
#pragma omp target private(vla) map(tofrom : sum)
  {
    for (int i = 0; i < n; i++) vla[i] = 2 * i;
    sum = vla[n - 1];
  }
  printf("%d %d\n", sum, vla[n - 1]);
  return 0;
}
