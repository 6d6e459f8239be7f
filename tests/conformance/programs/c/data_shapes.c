// covers: maps of unions, bit fields, enumerations, flexible arrays, volatile, const, atomics, strings
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum colour { RED, GREEN = 5, BLUE };
union word {
  unsigned u;
  unsigned char b[4];
};
struct bits {
  unsigned a : 3, b : 7;
  signed c : 5;
};
struct flexible {
  int n;
  short tail[];
};

int main(void) {
  enum colour colour = RED;
  union word word = {.u = 0x01020304};
  struct bits bits = {5, 100, -3};
  struct flexible *flexible = malloc(sizeof *flexible + 4 * sizeof(short));
  const int constant[3] = {1, 2, 3};
  volatile int v = 1;
  _Atomic int atomic = 4;
  char text[] = "text";
  const char *literal = "literal";
  size_t length = 0;
  flexible->n = 4;
  for (int i = 0; i < 4; i++) flexible->tail[i] = i;
  // A flexible array is mapped with its structure: sections of the two would be apart.
  char *whole = (char *)flexible;
#pragma omp target map(tofrom : colour, word, bits, v, atomic, text, length) map(to : constant) \
    map(tofrom : whole[0 : sizeof *flexible + 4 * sizeof(short)])
  {
    struct flexible *device = (struct flexible *)whole;
    colour = BLUE;
    word.b[0] = 0xff;
    bits.b += constant[2];
    bits.c--;
    for (int i = 0; i < device->n; i++) device->tail[i] *= 3;
    v += 2;
    atomic_fetch_add(&atomic, 5);
    text[0] = 'T';
    length = strlen(text);
  }
  printf("%d %x %u %u %d %d %d %d %s %zu\n", colour, word.u, bits.a, bits.b, bits.c,
         flexible->tail[3], v, atomic, text, length);
#pragma omp target map(to : literal[0 : 8]) map(from : length)
  length = strlen(literal);
  printf("%zu\n", length);
  free(flexible);
  return 0;
}
