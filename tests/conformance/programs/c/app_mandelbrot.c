// covers: a small application: uneven work with dynamic scheduling, integer results, a histogram with atomics
#include <stdio.h>

int main(void) {
  enum { W = 60, H = 40, LIMIT = 200 };
  static int image[H][W], histogram[LIMIT + 1];
#pragma omp target teams distribute parallel for collapse(2) schedule(dynamic, 4) map(from : image) \
    map(tofrom : histogram)
  for (int y = 0; y < H; y++)
    for (int x = 0; x < W; x++) {
      double cr = x * 3.0 / W - 2, ci = y * 2.0 / H - 1, zr = 0, zi = 0;
      int n = 0;
      while (n < LIMIT && zr * zr + zi * zi < 4) {
        double t = zr * zr - zi * zi + cr;
        zi = 2 * zr * zi + ci;
        zr = t;
        n++;
      }
      image[y][x] = n;
#pragma omp atomic
      histogram[n]++;
    }
  for (int y = 0; y < H; y += 5) {
    for (int x = 0; x < W; x += 2) putchar(image[y][x] == LIMIT ? '#' : image[y][x] > 5 ? '+' : '.');
    putchar('\n');
  }
  int total = 0;
  for (int i = 0; i <= LIMIT; i++) total += histogram[i];
  printf("%d %d\n", total, histogram[LIMIT] > 0);
  return 0;
}
