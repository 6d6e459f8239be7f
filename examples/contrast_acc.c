/* The contrast of a picture, raised where it is low: OpenACC's private variables, for stock clang.
 *
 * The picture is cut into tiles. A gang smooths the rows of its tile, counts how often each brightness
 * occurs, and spreads the brightness that occurs over all there is.
 *
 * - `line` is private to a worker: the lanes of a worker fill it with a row, and read what other
 *   lanes have put there. It has to be one array for all of them.
 * - `bins` is private to a gang: all lanes of all its workers count in it, with atomic operations.
 *
 * Both are in shared memory on a GPU; `-fopenacc-notes` says where each variable is, and why.
 *
 *   gangway cc -O2 -g -fopenacc --offload-arch=sm_80 contrast_acc.c -o contrast_acc
 *   gangway run --report -- ./contrast_acc [picture.png]
 */
#include "png.h"

#include <stdio.h>

enum { TILE = 64, ACROSS = 6, DOWN = 4, WIDTH = TILE * ACROSS, HEIGHT = TILE * DOWN, LEVELS = 256 };

static unsigned char picture[HEIGHT][WIDTH], raised[HEIGHT][WIDTH], expected[HEIGHT][WIDTH];

/* Hills in fog, different in each tile, with some noise. */
static void paint(void)
{
  unsigned random = 1;
  for (int y = 0; y < HEIGHT; ++y)
    for (int x = 0; x < WIDTH; ++x) {
      int dx = x % 96 - 48, dy = y % 80 - 40, fog = 60 + x / 6 + y / 8;
      random = random * 1664525u + 1013904223u;
      picture[y][x] = (unsigned char)(fog + 24 * 900 / (900 + dx * dx + dy * dy) + (random >> 29));
    }
}

static void raise(void)
{
#pragma acc parallel loop gang collapse(2) num_workers(4) vector_length(32) copyin(picture) copyout(raised)
  for (int down = 0; down < DOWN; ++down)
    for (int across = 0; across < ACROSS; ++across) {
      int top = down * TILE, left = across * TILE;
      unsigned bins[LEVELS];
#pragma acc loop worker vector
      for (int level = 0; level < LEVELS; ++level)
        bins[level] = 0;
#pragma acc loop worker
      for (int y = top; y < top + TILE; ++y) {
        unsigned char line[TILE];
#pragma acc loop vector
        for (int x = 0; x < TILE; ++x)
          line[x] = picture[y][left + x];
#pragma acc loop vector
        for (int x = 0; x < TILE; ++x) {
          int before = line[x > 0 ? x - 1 : x], after = line[x < TILE - 1 ? x + 1 : x];
          int level = (before + 2 * line[x] + after) / 4;
          raised[y][left + x] = (unsigned char)level;
#pragma acc atomic
          ++bins[level];
        }
      }
      /* How many are as dark, by one thread for the gang. */
      for (int level = 1; level < LEVELS; ++level)
        bins[level] += bins[level - 1];
#pragma acc loop worker
      for (int y = top; y < top + TILE; ++y)
#pragma acc loop vector
        for (int x = left; x < left + TILE; ++x)
          raised[y][x] = (unsigned char)((LEVELS - 1) * bins[raised[y][x]] / (TILE * TILE));
    }
}

static void raise_on_host(void)
{
  for (int tile = 0; tile < ACROSS * DOWN; ++tile) {
    int top = tile / ACROSS * TILE, left = tile % ACROSS * TILE;
    unsigned bins[LEVELS] = {0};
    for (int y = top; y < top + TILE; ++y)
      for (int x = left; x < left + TILE; ++x) {
        int before = picture[y][x > left ? x - 1 : x], after = picture[y][x < left + TILE - 1 ? x + 1 : x];
        expected[y][x] = (unsigned char)((before + 2 * picture[y][x] + after) / 4);
        ++bins[expected[y][x]];
      }
    for (int level = 1; level < LEVELS; ++level)
      bins[level] += bins[level - 1];
    for (int y = top; y < top + TILE; ++y)
      for (int x = left; x < left + TILE; ++x)
        expected[y][x] = (unsigned char)((LEVELS - 1) * bins[expected[y][x]] / (TILE * TILE));
  }
}

int main(int argc, char **argv)
{
  paint();
  raise();
  raise_on_host();
  int wrong = 0;
  for (int y = 0; y < HEIGHT; ++y)
    for (int x = 0; x < WIDTH; ++x)
      wrong += raised[y][x] != expected[y][x];
  printf("contrast: %d tiles of %d x %d, %d points differ from the host's\n", ACROSS * DOWN, TILE, TILE, wrong);
  if (argc > 1 && png_write(argv[1], &raised[0][0], WIDTH, HEIGHT) != 0) {
    fprintf(stderr, "contrast: cannot write %s\n", argv[1]);
    return 1;
  }
  puts(wrong ? "FAILED" : "passed");
  return wrong != 0;
}
