// Every operator, at every level, for several types; arrays, complex numbers, and several at once.
#include <stdio.h>

#define N 500
#define CHECK(what) \
  if (!(what)) return printf("line %d: " #what "\n", __LINE__), 1

#define PRAGMA(text) _Pragma(#text)
#define ALL(type, name, clauses)                                                                     \
  static int name(void) {                                                                            \
    type list[N], sum = 1, product = 1, most = -5, least = 5;                                        \
    int some = 0, every = 1;                                                                         \
    type sum_ = 1, product_ = 1, most_ = -5, least_ = 5;                                             \
    for (int i = 0; i < N; i++) list[i] = (type)((i * 37) % 19 - 9);                                  \
    for (int i = 0; i < N; i++) {                                                                    \
      sum_ += list[i];                                                                               \
      product_ *= i % 100 == 3 ? 2 : 1;                                                              \
      most_ = list[i] > most_ ? list[i] : most_;                                                     \
      least_ = list[i] < least_ ? list[i] : least_;                                                  \
    }                                                                                                \
    PRAGMA(clauses) for (int i = 0; i < N; i++) {                                                    \
      sum += list[i];                                                                                \
      product *= i % 100 == 3 ? 2 : 1;                                                               \
      most = list[i] > most ? list[i] : most;                                                        \
      least = list[i] < least ? list[i] : least;                                                     \
      some = some || i == 77;                                                                        \
      every = every && i != 78;                                                                      \
    }                                                                                                \
    CHECK(sum == sum_ && product == product_ && most == most_ && least == least_ && some && !every); \
    return 0;                                                                                        \
  }

#define REDUCED reduction(+:sum) reduction(*:product) reduction(max:most) reduction(min:least) reduction(||:some) reduction(&&:every)

ALL(int, ints, acc parallel loop REDUCED)
ALL(float, floats, acc parallel loop gang vector vector_length(128) num_gangs(3) REDUCED)
ALL(double, doubles, acc parallel loop gang worker num_workers(4) REDUCED)
ALL(long, longs, acc parallel loop vector vector_length(64) REDUCED)
ALL(short, shorts, acc parallel loop worker vector num_workers(3) vector_length(96) REDUCED)
ALL(long, gangs, acc parallel loop gang num_gangs(5) REDUCED)

static int bits(void) {
  unsigned any = 0, all = ~0u, odd = 0, any_ = 0, all_ = ~0u, odd_ = 0;
  for (unsigned i = 0; i < N; i++) any_ |= i << 3, all_ &= ~(1u << (i % 7)), odd_ ^= i * i;
#pragma acc parallel loop reduction(| : any) reduction(& : all) reduction(^ : odd)
  for (unsigned i = 0; i < N; i++) {
    any |= i << 3;
    all &= ~(1u << (i % 7));
    odd ^= i * i;
  }
  CHECK(any == any_ && all == all_ && odd == odd_);
  return 0;
}

static int arrays(void) {
  int bins[8] = {100}, wanted[8] = {100};
  for (int i = 0; i < N; i++) wanted[i % 8] += i;
#pragma acc parallel loop reduction(+ : bins)
  for (int i = 0; i < N; i++) bins[i % 8] += i;
  for (int b = 0; b < 8; b++) CHECK(bins[b] == wanted[b]);
  return 0;
}

static int nested(void) {
  int total = 0, rows[10];
#pragma acc parallel loop gang reduction(+ : total) copyout(rows)
  for (int i = 0; i < 10; i++) {
    int row = i;
#pragma acc loop vector reduction(+ : row)
    for (int j = 0; j < 100; j++) row += j;
    rows[i] = row;
    total += row;
  }
  CHECK(total == 49500 + 45);
  for (int i = 0; i < 10; i++) CHECK(rows[i] == 4950 + i);
  return 0;
}

#pragma acc routine vector
static int of_lanes(const int *row) {
  int sum = 0;
#pragma acc loop vector reduction(+ : sum)
  for (int j = 0; j < 200; j++) sum -= row[j];
  return sum;
}

#pragma acc routine worker
static int of_workers(const int *row) {
  int sum = 0;
#pragma acc loop worker reduction(+ : sum)
  for (int j = 0; j < 200; j++) sum += row[j];
  return sum;
}

/* Workers of several warps, whose lanes have no part in the loop. */
static int workers(void) {
  int rows[20][200], sums[20], others[20];
  for (int i = 0; i < 20; i++)
    for (int j = 0; j < 200; j++) rows[i][j] = i + 1;
#pragma acc data copyin(rows) copyout(sums, others)
  {
#pragma acc parallel loop gang
    for (int i = 0; i < 20; i++) sums[i] = of_lanes(rows[i]);
#pragma acc parallel loop gang
    for (int i = 0; i < 20; i++) sums[i] = of_workers(rows[i]);
#pragma acc parallel loop gang num_workers(4) vector_length(128)
    for (int i = 0; i < 20; i++) {
      int part = 0, all = 0;
#pragma acc loop vector reduction(+ : part)
      for (int j = 0; j < 200; j++) part += rows[i][j];
#pragma acc loop worker reduction(+ : all)
      for (int j = 0; j < 200; j++) all += rows[i][j];
      others[i] = part - all;
    }
  }
  for (int i = 0; i < 20; i++) CHECK(sums[i] == 200 * (i + 1) && others[i] == 0);
  return 0;
}

/* The variable's own value is combined with those of gangs, and no less than they: the result is 0 or 1. */
#define TRUTH(type)                                                                                  \
  {                                                                                                  \
    type every = (type)5.5, some = (type)7.5, none = 0, never = (type)9.5;                           \
    PRAGMA(acc parallel loop num_gangs(10) reduction(&&:every, never) reduction(||:some, none))      \
    for (int i = 0; i < N; i++) {                                                                    \
      every = every && i < N;                                                                        \
      never = never && i != 77;                                                                      \
      some = some || i > N;                                                                          \
      none = none || i > N;                                                                          \
    }                                                                                                \
    CHECK(every == 1 && never == 0 && some == 1 && none == 0);                                       \
    every = (type)5.5;                                                                               \
    PRAGMA(acc parallel num_gangs(7) reduction(&&:every)) every = every && 1;                        \
    CHECK(every == 1);                                                                               \
  }

static int truths(void) {
  TRUTH(int) TRUTH(_Bool) TRUTH(char) TRUTH(unsigned short) TRUTH(long) TRUTH(float) TRUTH(double)
  return 0;
}

int main(void) {
  if (workers() || truths()) return 1;
  if (ints() || floats() || doubles() || longs() || shorts() || gangs() || bits() || arrays() || nested()) return 1;
  puts("ok");
  return 0;
}
