// flags: -O2
// Tables that are constants of a region's own variables.
enum { N = 1000 };

int main(void) {
  int out[N];
#pragma omp target teams distribute parallel for map(from : out)
  for (int i = 0; i < N; i++) {
    const unsigned char bits[16] = {0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4};
    const struct { short a, b[3]; } pairs[3] = {{1, {2, 3, 4}}, {5, {6, 7, 8}}, {9, {10, 11, 12}}};
    const double *weights = (const double[]){0.5, 1.5, 2.5, 3.5};
    out[i] = 100 * bits[i % 16] + pairs[i % 3].b[i % 2] + (int)(2 * weights[i % 4]);
  }
  for (int i = 0; i < N; i++) {
    int bits = __builtin_popcount((unsigned)i % 16), pair = 4 * (i % 3) + 2 + i % 2;
    if (out[i] != 100 * bits + pair + 1 + 2 * (i % 4))
      return 1;
  }
  return 0;
}
