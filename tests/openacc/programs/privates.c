// What is private to gangs, workers and lanes: with addresses, atomics, alignments from 1 to 64, members and
// elements; histograms of gangs; variables of around that loops have for themselves.
#include <stdio.h>

#define CHECK(what) \
  if (!(what)) return printf("line %d: " #what "\n", __LINE__), 1

struct wide {
  char one;
  double two[3];
} __attribute__((aligned(64)));

static int histogram(void) {
  enum { N = 4096, B = 16 };
  static unsigned char data[N];
  int bins[B] = {0}, wanted[B] = {0};
  for (int i = 0; i < N; i++) data[i] = i * 7 % 61, wanted[data[i] % B]++;
#pragma acc parallel num_gangs(4) num_workers(2) vector_length(32) copyin(data) copy(bins)
  {
    int own[B];
#pragma acc loop worker vector
    for (int b = 0; b < B; b++) own[b] = 0;
#pragma acc loop gang worker vector
    for (int i = 0; i < N; i++) {
#pragma acc atomic update
      own[data[i] % B]++;
    }
#pragma acc loop worker vector
    for (int b = 0; b < B; b++) {
#pragma acc atomic update
      bins[b] += own[b];
    }
  }
  for (int b = 0; b < B; b++) CHECK(bins[b] == wanted[b]);
  return 0;
}

static int alignments(void) {
  static int right[8];
  for (int i = 0; i < 8; i++) right[i] = 0;
#pragma acc parallel num_gangs(2) num_workers(4) vector_length(32) copy(right)
  {
#pragma acc loop gang
    for (int g = 0; g < 8; g++) {
      char c = 1;
      short s = 2;
      struct wide w;
      int counter = 0;
      double d[2] = {0.5, 1.5};
      w.one = 3;
      w.two[2] = 4;
#pragma acc loop worker
      for (int i = 0; i < 4; i++) {
        struct wide own;
        own.two[0] = i;
#pragma acc loop vector
        for (int v = 0; v < 32; v++) {
          struct wide *p = &w;
          double *q = &own.two[0];
          if ((unsigned long)p % 64 == 0 && (unsigned long)q % 8 == 0 && p->one == 3 && p->two[2] == 4 && *q == i &&
              c == 1 && s == 2 && d[1] == 1.5) {
#pragma acc atomic update
            counter++;
          }
        }
      }
      right[g] = counter;
    }
  }
  for (int g = 0; g < 8; g++) CHECK(right[g] == 128);
  return 0;
}

static int clauses(void) {
  int i, j, t, list[32][32], shift = 3, row[32];
#pragma acc parallel copyout(list) firstprivate(shift) private(row)
  {
#pragma acc loop gang private(t, row)
    for (i = 0; i < 32; i++) {
      t = i * shift;
#pragma acc loop vector
      for (j = 0; j < 32; j++) row[j] = t + j;
#pragma acc loop vector
      for (j = 0; j < 32; j++) list[i][j] = row[31 - j];
    }
  }
  for (i = 0; i < 32; i++)
    for (j = 0; j < 32; j++) CHECK(list[i][j] == 3 * i + 31 - j);
  return 0;
}

static int one_thread(void) {
  int got = 0, list[4] = {0};
#pragma acc parallel copyout(got) copy(list)
  {
    int counter = 0;
    for (int i = 0; i < 10; i++) {
      if (i == 7) continue;
#pragma acc atomic capture
      {
        counter++;
        list[i & 3] = counter;
      }
    }
    got = counter;
  }
  CHECK(got == 9);
  return 0;
}

/* Loops' own variables in the clause. */
static int loops_variables(void) {
  int i, j, k, list[20][30];
  for (i = 0; i < 20; i++)
    for (j = 0; j < 30; j++) list[i][j] = -1;
#pragma acc parallel loop collapse(2) private(i, j) copy(list)
  for (i = 1; i < 20; i++)
    for (j = 2; j < 30; j++) list[i][j] = i * j;
  for (i = 0; i < 20; i++)
    for (j = 0; j < 30; j++) CHECK(list[i][j] == (i < 1 || j < 2 ? -1 : i * j));
#pragma acc parallel loop gang private(i, j, k) copy(list)
  for (i = 0; i < 20; i++) {
#pragma acc loop vector private(j)
    for (j = 0; j < 30; j++) {
      k = i - j;
      list[i][j] = k;
    }
  }
  for (i = 0; i < 20; i++)
    for (j = 0; j < 30; j++) CHECK(list[i][j] == i - j);
#pragma acc kernels loop gang vector private(i) copy(list)
  for (i = 0; i < 20; i++) list[i][i] = 7;
  for (i = 0; i < 20; i++) CHECK(list[i][i] == 7);
  return 0;
}

int main(void) {
  if (loops_variables() || histogram() || alignments() || clauses() || one_thread()) return 1;
  puts("ok");
  return 0;
}
