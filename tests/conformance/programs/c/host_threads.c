// covers: many host threads offloading at once on shared present data and on their own data
#include <omp.h>
#include <stdio.h>

int main(void) {
  enum { T = 8, R = 60 };
  static int table[64], done[T];
  for (int i = 0; i < 64; i++) table[i] = i;
  long total = 0;
#pragma omp target data map(to : table)
#pragma omp parallel num_threads(T) reduction(+ : total)
  {
    int me = omp_get_thread_num();
    for (int r = 0; r < R; r++) {
      int mine[16], sum = 0;
      for (int i = 0; i < 16; i++) mine[i] = me + r + i;
#pragma omp target map(to : table) map(tofrom : mine) map(tofrom : sum)
      for (int i = 0; i < 16; i++) {
        mine[i] += table[(i + me) % 64];
        sum += mine[i];
      }
      total += sum + mine[15];
    }
    done[me] = 1;
  }
  int threads = 0;
  for (int i = 0; i < T; i++) threads += done[i];
  printf("%d %ld\n", threads, total);
  return 0;
}
