// covers: declare target indirect: host function pointers called on the device
// flags: -fopenmp-version=52
#include <stdio.h>

#pragma omp begin declare target indirect
int twice(int x) { return 2 * x; }
int square(int x) { return x * x; }
#pragma omp end declare target

int main(void) {
  int (*table[3])(int) = {twice, square, twice};
  int out[3] = {0};
#pragma omp target map(to : table) map(from : out)
  for (int i = 0; i < 3; i++) out[i] = table[i](i + 3);
  printf("%d %d %d\n", out[0], out[1], out[2]);
  int (*f)(int) = square;
  int r = 0;
#pragma omp target map(from : r) firstprivate(f)
  r = f(12);
  printf("%d\n", r);
  return 0;
}
