// covers: regions under way at once that map one variable, from host threads and by nowait; the last one that ends copies back
#include <stdio.h>

int main(void) {
  int n = 0, rounds = 0;
  static long a[2000];
#pragma omp parallel num_threads(4)
  for (int i = 0; i < 25; i++) {
#pragma omp target map(tofrom : n)
    {
#pragma omp atomic
      n++;
    }
  }
#pragma omp parallel
#pragma omp single
  for (int round = 0; round < 20; round++) {
#pragma omp target nowait map(tofrom : rounds, a)
    {
#pragma omp atomic
      rounds += 9;
#pragma omp atomic
      a[round] += 1;
    }
#pragma omp target nowait map(tofrom : rounds, a)
    {
#pragma omp atomic
      rounds += 4;
#pragma omp atomic
      a[round] += 2;
    }
#pragma omp taskwait
    if (rounds != 13 * (round + 1) || a[round] != 3) printf("round %d: %d %ld\n", round, rounds, a[round]);
  }
  printf("%d %d %ld\n", n, rounds, a[19]);
  return 0;
}
