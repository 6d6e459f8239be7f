#include <stdbool.h>

void f(int n, bool *truths) {
#pragma acc parallel loop reduction(^ : truths[0 : n])
  for (int i = 0; i < n; i++) truths[i % 7] ^= i & 1;
}
