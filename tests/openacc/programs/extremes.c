// as without OpenACC
// The greatest and the least of numbers of all kinds, between gangs: none of them reads what others are writing.
#include <stdio.h>

enum { N = 2000 };

typedef double real;
typedef struct {
  real low;
  float high;
  int index;
} range;

static double list[N];

int main(void) {
  real most = -1, least = 1e9, both[2] = {-5, -6};
  float narrow = 3;
  long long whole = 0;
  range all = {100, 100, 100};
  for (int i = 0; i < N; i++) list[i] = i * 7919 % 3001 * 0.25;
#pragma acc parallel loop gang vector num_gangs(40) copyin(list) reduction(max : most, narrow, whole, both) reduction(min : least, all)
  for (int i = 0; i < N; i++) {
    if (list[i] > most) most = list[i];
    least = list[i] < least ? list[i] : least;
    if ((float)i / 3 > narrow) narrow = (float)i / 3;
    if (i * 3LL > whole) whole = i * 3LL;
    if (list[i] > both[i % 2]) both[i % 2] = list[i];
    if (list[i] - 9 < all.low) all.low = list[i] - 9;
    if ((float)-i < all.high) all.high = (float)-i;
    if (i - 5 < all.index) all.index = i - 5;
  }
  printf("%g %g %g %lld %g %g %g %g %d\n", most, least, narrow, whole, both[0], both[1], all.low, all.high, all.index);
  return 0;
}
