// String instructions, gathers and masked accesses of what the device has newer, in both directions.
// with: openmp
// device: cpu
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIZE = 1 << 20 };

static void set(char *to, int value, size_t size, int down)
{
  to += down ? size - 1 : 0;
  if (down)
    __asm__ volatile("std\n rep stosb\n cld" : "+D"(to), "+c"(size) : "a"(value) : "memory");
  else
    __asm__ volatile("rep stosb" : "+D"(to), "+c"(size) : "a"(value) : "memory");
}

static void copy(char *to, const char *from, size_t size)
{
  __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(size) : : "memory"); // finds: the host reads an old value: `b[
}

int main(void)
{
  char *a = malloc(SIZE), *b = malloc(SIZE);
  memset(a, 1, SIZE);
  memset(b, 2, SIZE);
#pragma omp target enter data map(to : a[0:SIZE], b[0:SIZE])
  for (int step = 0; step < 3; ++step) {
#pragma omp target teams distribute parallel for
    for (int i = 0; i < SIZE; ++i)
      a[i] = 3, b[i] = 4 + step;
    set(a, 5, SIZE, step & 1);
#ifndef WRONG
#pragma omp target update from(b[0:SIZE])
#endif
    copy(b, a, SIZE / 2);
    copy(a, b + SIZE / 2, SIZE / 2);
    if (b[100] != 5 || a[SIZE - 9] != 5)
      return 1;
#ifndef WRONG
    if (a[100] != 4 + step || memcmp(a, b + SIZE / 2, SIZE / 2))
      return 2;
#endif
  }
#pragma omp target exit data map(delete : a[0:SIZE], b[0:SIZE])
  printf("%d\n", a[100]);
  return 0;
}
