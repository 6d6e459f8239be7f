// flags: -O2
// refused: GPUs have no 'long double'
int printf(const char *, ...);

int main(void) {
#pragma omp target
  printf("%Lf\n", 1.5L);
  return 0;
}
