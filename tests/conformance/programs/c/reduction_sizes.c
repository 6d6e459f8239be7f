// covers: reductions of arrays and structures of all sizes, from 1 byte, in teams and over them
#include <stdio.h>

enum { STEPS = 400 };

// Structures whose sizes are no multiples of their pieces.
#define SIZES(DO) DO(3) DO(7)
#define STRUCTURE(n)                                               \
  typedef struct { unsigned char at[n]; } bytes##n;                \
  typedef struct { unsigned short at[n]; } halves##n;              \
  static void join_bytes##n(bytes##n *to, const bytes##n *from) {  \
    for (int i = 0; i < n; i++) to->at[i] += from->at[i];          \
  }                                                                \
  static void join_halves##n(halves##n *to, const halves##n *from) { \
    for (int i = 0; i < n; i++) to->at[i] += from->at[i];          \
  }
#pragma omp begin declare target
SIZES(STRUCTURE)
#pragma omp end declare target
#define REDUCTION(type, join) \
  _Pragma(REDUCTION_TEXT(omp declare reduction(join : type : join(&omp_out, &omp_in)) initializer(omp_priv = {{0}})))
#define REDUCTION_TEXT(...) #__VA_ARGS__
#define REDUCTIONS(n) REDUCTION(bytes##n, join_bytes##n) REDUCTION(halves##n, join_halves##n)
SIZES(REDUCTIONS)

static void print(const char *kind, unsigned long sum) { printf(" %s %lu", kind, sum % 100000); }

// A number that says where each value is.
#define SUM(kind, array, length)                                        \
  do {                                                                  \
    unsigned long sum = 0;                                              \
    for (int k = 0; k < (length); k++) sum = sum * 31 + (unsigned long)(array)[k]; \
    print(kind, sum);                                                   \
  } while (0)

// Arrays of one type: sections of three lengths behind an offset, in a team and over teams.
#define ARRAYS(name, type)                                              \
  static void name(const char *kind) {                                  \
    type a[24] = {0}, b[12] = {0}, c[12] = {0};                         \
    _Pragma("omp target parallel for num_threads(100) map(tofrom : a, b, c) reduction(+ : a[3:18], b[1:9], c[2:7])") \
    for (int i = 0; i < STEPS; i++) {                                   \
      a[3 + i % 18] += (type)(i & 1);                                   \
      b[1 + i % 9] += (type)(i & 1);                                   \
      c[2 + i % 7] += (type)(i & 1);                                    \
    }                                                                   \
    SUM(kind, a, 24);                                                   \
    SUM(kind, b, 12);                                                   \
    SUM(kind, c, 12);                                                   \
    type d[9] = {0}, e[5] = {0}, f[3] = {0}, g[1] = {0};                \
    _Pragma("omp target teams distribute parallel for num_teams(5) thread_limit(33) map(tofrom : d, e, f, g) reduction(+ : d[1:7], e, f, g)") \
    for (int i = 0; i < STEPS; i++) {                                   \
      d[1 + i % 7] += (type)(i & 1);                                    \
      e[i % 5] += (type)(i & 1);                                        \
      f[i % 3] += (type)(i & 1);                                        \
      g[0] += (type)(i & 1);                                            \
    }                                                                   \
    SUM(kind, d, 9);                                                    \
    SUM(kind, e, 5);                                                    \
    SUM(kind, f, 3);                                                    \
    SUM(kind, g, 1);                                                    \
    printf("\n");                                                       \
  }
ARRAYS(bytes, unsigned char)
ARRAYS(halves, unsigned short)

#define VARIABLES(n)    \
  bytes##n b##n = {{0}}; \
  halves##n h##n = {{0}};
#define STEP(n)          \
  b##n.at[i % n] += i;   \
  h##n.at[i % n] += i;
#define PRINT(n)             \
  SUM("bytes", b##n.at, n);  \
  SUM("halves", h##n.at, n);
#define PAIR(n) join_bytes##n : b##n) reduction(join_halves##n : h##n

static void in_a_team(void) {
  SIZES(VARIABLES)
  _Float16 small = 0;
#pragma omp target parallel for num_threads(70) reduction(PAIR(3)) reduction(PAIR(7)) reduction(+ : small)
  for (int i = 0; i < STEPS; i++) {
    SIZES(STEP)
    small += (_Float16)(i & 1);
  }
  SIZES(PRINT)
  print("small real", (unsigned long)small);
  printf("\n");
}

static void over_teams(void) {
  SIZES(VARIABLES)
  _Float16 small = 0;
#pragma omp target teams distribute parallel for num_teams(4) thread_limit(40) reduction(PAIR(3)) reduction(PAIR(7)) reduction(+ : small)
  for (int i = 0; i < STEPS; i++) {
    SIZES(STEP)
    small += (_Float16)(i & 1);
  }
  SIZES(PRINT)
  print("small real", (unsigned long)small);
  printf("\n");
}

int main(void) {
  bytes("bytes");
  halves("halves");
  in_a_team();
  over_teams();
  return 0;
}
