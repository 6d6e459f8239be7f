/* The Mandelbrot set, computed by GCC's OpenMP on the (virtual) GPU.
 *
 * Points leave the iteration after anything from one to LIMIT steps, so that lanes of
 * a warp go different ways. Every point is compared with the host's. GPUs fuse multiplications
 * and additions (docs/arithmetic.md), so that a point in a thousand may leave at another step.
 *
 *   mandelbrot [PICTURE.png]
 */
#include "png.h"
#include <omp.h>

enum { WIDTH = 480, HEIGHT = 320, LIMIT = 200 };

#pragma omp declare target
static int steps(int column, int row) {
  double x0 = -2.2 + 3.2 * column / WIDTH, y0 = -1.1 + 2.2 * row / HEIGHT, x = 0, y = 0;
  int step = 0;
  while (step < LIMIT && x * x + y * y < 4) {
    double next = x * x - y * y + x0;
    y = 2 * x * y + y0;
    x = next;
    ++step;
  }
  return step;
}
#pragma omp end declare target

static int draw(const char *path, int found[HEIGHT][WIDTH]) {
  static uint8_t pixels[HEIGHT * WIDTH];
  for (int i = 0; i < HEIGHT * WIDTH; ++i) {
    int step = found[i / WIDTH][i % WIDTH];
    pixels[i] = step == LIMIT ? 0 : (uint8_t)(255 * (1 - 1 / (1 + step / 12.0)));
  }
  return png_write(path, pixels, WIDTH, HEIGHT);
}

int main(int argc, char **argv) {
  static int found[HEIGHT][WIDTH];
  int on_host = 1;
#pragma omp target teams distribute parallel for collapse(2) map(from : found) map(tofrom : on_host)
  for (int row = 0; row < HEIGHT; ++row)
    for (int column = 0; column < WIDTH; ++column) {
      found[row][column] = steps(column, row);
      if (row == 0 && column == 0)
        on_host = omp_is_initial_device();
    }
  long total = 0;
  int differ = 0;
  for (int row = 0; row < HEIGHT; ++row)
    for (int column = 0; column < WIDTH; ++column) {
      total += found[row][column];
      differ += found[row][column] != steps(column, row);
    }
  printf("mandelbrot: %d x %d points on %s, %ld steps, %d points differ from the host's\n", WIDTH, HEIGHT,
         on_host ? "the host" : "the device", total, differ);
  if (argc > 1 && draw(argv[1], found) != 0) {
    fprintf(stderr, "mandelbrot: cannot write %s\n", argv[1]);
    return 1;
  }
  return differ > WIDTH * HEIGHT / 1000 || on_host;
}
