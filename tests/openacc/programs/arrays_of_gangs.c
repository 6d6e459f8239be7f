// Arrays, and objects with arrays, of which each gang has one: what a thread of it changes in them all of its threads see.
#include <stdio.h>

#define N 32
#define CHECK(what) \
  if (!(what)) return printf("line %d: %s\n", __LINE__, #what), 1

struct lists {
  int k;
  int l[8];
};

static int first_private(void) {
  int out[N], list[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  struct lists s = {3, {1, 2, 3}};
#pragma acc parallel num_gangs(2) num_workers(2) vector_length(32) firstprivate(list, s) copyout(out)
  {
    list[1] = 50;
    s.l[2] = 7;
    s.k++;
#pragma acc loop vector
    for (int j = 0; j < 8; j++) list[j] += j;
#pragma acc loop gang vector
    for (int i = 0; i < N; i++) out[i] = list[i % 8] + s.l[2] + s.k;
  }
  for (int i = 0; i < N; i++) CHECK(out[i] == (i % 8 == 1 ? 51 : 2 * (i % 8) + 1) + 7 + 4);
  CHECK(list[1] == 2 && s.k == 3 && s.l[2] == 3);
  return 0;
}

static int own(void) {
  int out[N];
  struct lists s;
#pragma acc parallel num_gangs(1) private(s) copyout(out)
  {
    struct lists t = {0};
    int rows[2][3] = {{1}};
    t.l[3] = 4;
    t.k = 2;
    rows[1][2] = 5;
    s.k = 1;
    for (int j = 0; j < 8; j++) s.l[j] = j;
#pragma acc loop vector
    for (int j = 0; j < 8; j++) t.l[j] = j + t.k;
#pragma acc loop vector
    for (int i = 0; i < N; i++) out[i] = t.l[(i + 3) % 8] + rows[1][2] + s.l[i % 8] + s.k;
  }
  for (int i = 0; i < N; i++) CHECK(out[i] == (i + 3) % 8 + 2 + 5 + i % 8 + 1);
  return 0;
}

static int reduced(void) {
  int out[N], bins[4] = {10};
#pragma acc parallel num_gangs(3) reduction(+ : bins) copyout(out)
  {
    bins[1] += 5;
#pragma acc loop gang vector
    for (int i = 0; i < N; i++) out[i] = bins[1];
#pragma acc loop gang vector reduction(+ : bins)
    for (int i = 0; i < N; i++) bins[i % 4] += i;
  }
  for (int i = 0; i < N; i++) CHECK(out[i] == 5);
  CHECK(bins[0] == 122 && bins[1] >= 120 + 5 && bins[1] % 5 == 0 && bins[3] == 136);
  return 0;
}

int main(void) {
  if (first_private() || own() || reduced()) return 1;
  puts("ok");
  return 0;
}
