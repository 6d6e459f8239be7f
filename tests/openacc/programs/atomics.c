// Every form of `atomic`: each value that is captured is there once.
#include <stdio.h>

#define N 1000
#define CHECK(what) \
  if (!(what)) return printf("line %d: " #what "\n", __LINE__), 1

static int seen[9][N];

/* Whether the values are first, first + step, ... in some order. */
static int are_all(const int *values, int first, int step) {
  char found[N] = {0};
  for (int i = 0; i < N; i++) {
    int at = (values[i] - first) / step;
    if (at < 0 || at >= N || found[at]++ || first + at * step != values[i]) return 0;
  }
  return 1;
}

int main(void) {
  int a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, last = -1;
  float sum = 0;
  double flips = 1;
  short down = 0;
  unsigned char small = 0;
  long long bits = 0;
  unsigned shifted[N], halves[N];
  for (int i = 0; i < N; i++) shifted[i] = 1, halves[i] = 1u << 31;
#pragma acc parallel loop copy(a, b, c, d, e, f, g, last, sum, flips, down, small, bits) copyout(seen) \
    copy(shifted, halves)
  for (int i = 0; i < N; i++) {
#pragma acc atomic capture
    seen[0][i] = a++;
#pragma acc atomic capture
    seen[1][i] = --b;
#pragma acc atomic capture
    seen[2][i] = c = 2 + c;
#pragma acc atomic update capture
    {
      seen[3][i] = d;
      d -= 3;
    }
#pragma acc atomic update capture
    {
      ++e;
      seen[4][i] = e;
    }
#pragma acc atomic capture
    {
      f = f + 1;
      seen[5][i] = f;
    }
#pragma acc atomic capture
    {
      seen[6][i] = last;
      last = i;
    }
#pragma acc atomic update capture
    seen[7][i] = sum += 1;
#pragma acc atomic
    flips = 1 - flips;
#pragma acc atomic update
    down -= 1;
#pragma acc atomic
    small++;
#pragma acc atomic update
    bits |= 1ll << i % 60;
#pragma acc loop seq
    for (int k = 0; k < 7; k++) {
#pragma acc atomic
      shifted[i] <<= 1;
#pragma acc atomic update
      halves[i] = halves[i] / 2;
    }
    int now;
#pragma acc atomic read
    now = bits;
#pragma acc atomic write
    g = 5;
    seen[8][i] = (now & 1) | 1;
  }
  CHECK(are_all(seen[0], 0, 1) && are_all(seen[1], -1, -1) && are_all(seen[2], 2, 2) && are_all(seen[3], 0, -3));
  CHECK(are_all(seen[4], 1, 1) && are_all(seen[5], 1, 1) && are_all(seen[7], 1, 1));
  // Each value that was exchanged was there before, but for the last.
  int before = 0, all = -1 + N * (N - 1) / 2;
  for (int i = 0; i < N; i++) before += seen[6][i];
  CHECK(before + last == all);
  CHECK(a == N && b == -N && c == 2 * N && d == -3 * N && e == N && f == N && g == 5);
  CHECK(sum == N && flips == 1 && down == -N && small == (unsigned char)N && bits == (1ll << 60) - 1);
  for (int i = 0; i < N; i++) CHECK(shifted[i] == 128 && halves[i] == 1u << 24);
  puts("ok");
  return 0;
}
