// Code around loops that threads share: conditions, loops of all kinds, `continue`, `break`, `switch`, collapsed
// loops, tiles, bounds that are computed, loops that count down, and loops that do not run at all.
#include <stdio.h>

#define CHECK(what) \
  if (!(what)) return printf("line %d: " #what "\n", __LINE__), 1

static int around(void) {
  static int list[40][64], begins[41];
  begins[0] = 0;
  for (int i = 0; i < 40; i++) begins[i + 1] = begins[i] + i % 5;
#pragma acc parallel num_gangs(4) num_workers(2) vector_length(32) copyout(list) copyin(begins)
  {
#pragma acc loop gang
    for (int i = 0; i < 40; i++) {
      int value = 0, step = 0;
#pragma acc loop vector
      for (int v = 0; v < 64; v++) list[i][v] = 0;
      if (i % 7 == 3) continue;
      for (int k = begins[i]; k < begins[i + 1]; k++) {
        value += k;
        if (value > 60) break;
#pragma acc loop vector
        for (int v = 0; v < 64; v++) list[i][v] += value + v;
      }
      while (step < i % 3) {
        step++;
#pragma acc loop worker
        for (int w = 0; w < 64; w++) list[i][w] += step;
      }
      switch (i % 4) {
      case 1:
#pragma acc loop vector
        for (int v = 0; v < 64; v++) list[i][v] *= 2;
        break;
      case 2:
        value = 1000;
      default:
        do {
#pragma acc loop vector
          for (int v = 0; v < 64; v++) list[i][v] -= value;
          value -= 400;
        } while (value > 300);
      }
    }
  }
  for (int i = 0; i < 40; i++) {
    int wanted[64] = {0}, value = 0, step = 0;
    if (i % 7 != 3) {
      for (int k = begins[i]; k < begins[i + 1]; k++) {
        value += k;
        if (value > 60) break;
        for (int v = 0; v < 64; v++) wanted[v] += value + v;
      }
      while (step < i % 3) {
        step++;
        for (int v = 0; v < 64; v++) wanted[v] += step;
      }
      if (i % 4 == 1)
        for (int v = 0; v < 64; v++) wanted[v] *= 2;
      else {
        if (i % 4 == 2) value = 1000;
        do {
          for (int v = 0; v < 64; v++) wanted[v] -= value;
          value -= 400;
        } while (value > 300);
      }
    }
    for (int v = 0; v < 64; v++) CHECK(list[i][v] == wanted[v]);
  }
  return 0;
}

static int heads(void) {
  int list[200] = {0}, i, n = 17;
#pragma acc parallel loop copy(list)
  for (i = 199; i >= 100; i -= 3) list[i]++;
#pragma acc parallel loop copy(list)
  for (unsigned u = n; u < 100u; u = u + 2) list[u]++;
#pragma acc parallel loop copy(list)
  for (i = 5; i != 15; i++) list[i] += 2;
#pragma acc parallel loop copy(list)
  for (i = 10; 3 > i; i++) list[i] += 1000;
  for (i = 0; i < 200; i++) {
    int wanted = (i >= 100 && (199 - i) % 3 == 0) + (i >= 17 && i < 100 && (i - 17) % 2 == 0) + 2 * (i >= 5 && i < 15);
    CHECK(list[i] == wanted);
  }
  return 0;
}

static int nests(void) {
  static int cube[9][11][13];
#pragma acc parallel loop collapse(3) copyout(cube)
  for (int i = 0; i < 9; i++)
    for (int j = 10; j >= 0; j--)
      for (int k = 0; k < 13; k++) cube[i][j][k] = 10000 * i + 100 * j + k;
#pragma acc parallel loop tile(4, 4) copy(cube)
  for (int i = 0; i < 9; i++)
    for (int j = 0; j < 11; j++) cube[i][j][0]++;
#pragma acc kernels copy(cube)
  {
    for (int i = 0; i < 9; i++) cube[i][0][1] = -1;
#pragma acc loop independent
    for (int j = 0; j < 11; j++) cube[0][j][2] = -2;
  }
  for (int i = 0; i < 9; i++)
    for (int j = 0; j < 11; j++)
      for (int k = 0; k < 13; k++) {
        int wanted = 10000 * i + 100 * j + k + (k == 0);
        if (j == 0 && k == 1) wanted = -1;
        if (i == 0 && k == 2) wanted = -2;
        CHECK(cube[i][j][k] == wanted);
      }
  return 0;
}

int main(void) {
  if (around() || heads() || nests()) return 1;
  puts("ok");
  return 0;
}
