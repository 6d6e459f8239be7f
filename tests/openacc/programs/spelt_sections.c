// Sections of reductions whose bounds are spelt in C's other ways: other elements stay as they are.
#include <stdio.h>

enum { FROM = 3, COUNT = 2 };

int main(void) {
  int a[24], b[24], both[8];
  for (int i = 0; i < 24; i++) a[i] = b[i] = 5;
  for (int i = 0; i < 8; i++) both[i] = 7;
#pragma acc parallel loop reduction(+ : a[010 : 0x2])
  for (int i = 0; i < 100; i++) a[8 + i % 2] += 1;
#pragma acc parallel loop reduction(+ : b[FROM : COUNT])
  for (int i = 0; i < 100; i++) b[FROM + i % COUNT] += 1;
#pragma acc parallel loop reduction(&& : both[(4u) : 1])
  for (int i = 0; i < 100; i++) both[4] = both[4] && i >= 0;
  for (int i = 0; i < 24; i++) {
    if (a[i] != (i == 8 || i == 9 ? 55 : 5)) return printf("a[%d] = %d\n", i, a[i]), 1;
    if (b[i] != (i == 3 || i == 4 ? 55 : 5)) return printf("b[%d] = %d\n", i, b[i]), 1;
  }
  for (int i = 0; i < 8; i++)
    if (both[i] != (i == 4 ? 1 : 7)) return printf("both[%d] = %d\n", i, both[i]), 1;
  puts("ok");
  return 0;
}
