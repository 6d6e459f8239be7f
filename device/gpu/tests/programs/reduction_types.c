// Every operator and element type of reductions: bytes to 256 bytes, structures, arrays, complex
// numbers, 128 bits; in a parallel region, over teams, and over both.
//
// float _Complex is not here: clang 22 reads it as eight aligned bytes, which it need not be.

#include "check.h"
#include <complex.h>

typedef struct { double sum; long count; char rest[17]; } Statistics;
static void merge(Statistics *out, const Statistics *in) {
  out->sum += in->sum;
  out->count += in->count;
  out->rest[16] ^= in->rest[16];
}
#pragma omp declare reduction(merge : Statistics : merge(&omp_out, &omp_in)) \
    initializer(omp_priv = (Statistics){0})

typedef struct { unsigned long words[32]; } Wide;
static void add(Wide *out, const Wide *in) {
  for (int k = 0; k < 32; ++k)
    out->words[k] += in->words[k];
}
#pragma omp declare reduction(add : Wide : add(&omp_out, &omp_in)) initializer(omp_priv = (Wide){0})

typedef struct { short words[3]; } Six;
static void most(Six *out, const Six *in) {
  if (in->words[1] > out->words[1])
    *out = *in;
}
#pragma omp declare reduction(most : Six : most(&omp_out, &omp_in)) \
    initializer(omp_priv = (Six){{0, -1, 0}})

enum { N = 3000 };

static long total(long count) { return count * (count - 1) / 2; }

#define PRAGMA(text) _Pragma(#text)

// A function that reduces in the given construct. Its checks tell the line of the definition.
#define REDUCES(name, construct)                                                                 \
  static void name##_numbers(void) {                                                             \
    signed char c = -128;                                                                        \
    unsigned char x = 0;                                                                         \
    unsigned short o = 0;                                                                        \
    int a = ~0;                                                                                  \
    long l = 5, low = 1L << 40;                                                                  \
    short s = 0;                                                                                 \
    float f = 0.5f, product = 1;                                                                 \
    double d = 0, top = -1e300;                                                                  \
    PRAGMA(construct reduction(max : c, top) reduction(^ : x) reduction(| : o) reduction(& : a)  \
           reduction(+ : l, s, f, d) reduction(min : low) reduction(* : product))                \
    for (int i = 0; i < N; ++i) {                                                                \
      if ((signed char)(i * 37) > c)                                                             \
        c = (signed char)(i * 37);                                                               \
      if (i * 0.5 > top)                                                                         \
        top = i * 0.5;                                                                           \
      x ^= (unsigned char)i;                                                                     \
      o |= (unsigned short)(1 << i % 13);                                                        \
      a &= ~(1 << i % 9);                                                                        \
      l += i;                                                                                    \
      s += 1;                                                                                    \
      f += 0.25f;                                                                                \
      d += i;                                                                                    \
      if (i * -3L < low)                                                                         \
        low = i * -3L;                                                                           \
      if (i % 500 == 3)                                                                          \
        product *= 2;                                                                            \
    }                                                                                            \
    int bits = 0;                                                                                \
    for (int i = 0; i < N; ++i)                                                                  \
      bits ^= i & 255;                                                                           \
    CHECK(c, 127);                                                                               \
    CHECK(top * 2, N - 1);                                                                       \
    CHECK(x, bits);                                                                              \
    CHECK(o, (1 << 13) - 1);                                                                     \
    CHECK(a, -512);                                                                           \
    CHECK(l, 5 + total(N));                                                                      \
    CHECK(s, N);                                                                                 \
    CHECK(f * 4, 2 + N);                                                                         \
    CHECK(d, total(N));                                                                          \
    CHECK(low, -3L * (N - 1));                                                                   \
    CHECK(product, 64);                                                                          \
  }                                                                                              \
  static void name##_others(void) {                                                              \
    _Bool all = 1, any = 0, none = 1;                                                            \
    double _Complex w = 0;                                                                       \
    __int128 q = 1;                                                                              \
    Statistics t = {0};                                                                          \
    Wide wide = {{0}};                                                                           \
    Six six = {{0, -1, 0}};                                                                      \
    PRAGMA(construct reduction(&& : all, none) reduction(|| : any) reduction(+ : w, q)           \
           reduction(merge : t) reduction(add : wide) reduction(most : six))                     \
    for (int i = 0; i < N; ++i) {                                                                \
      all = all && i >= 0;                                                                       \
      any = any || i == 2321;                                                                    \
      none = none && i != 77;                                                                    \
      w += i + I;                                                                                \
      q += (__int128)i << 70;                                                                    \
      t.sum += i;                                                                                \
      t.count += 1;                                                                              \
      t.rest[16] ^= (char)(i == 9 ? 5 : 0);                                                      \
      wide.words[i % 32] += i;                                                                   \
      if (i % 1009 > six.words[1])                                                               \
        six.words[1] = (short)(i % 1009);                                                        \
    }                                                                                            \
    CHECK(all, 1);                                                                               \
    CHECK(any, 1);                                                                               \
    CHECK(none, 0);                                                                              \
    CHECK(creal(w), total(N));                                                                   \
    CHECK(cimag(w), N);                                                                          \
    CHECK(q == ((__int128)total(N) << 70) + 1, 1);                                               \
    CHECK(t.sum, total(N));                                                                      \
    CHECK(t.count, N);                                                                           \
    CHECK(t.rest[16], 5);                                                                        \
    CHECK(six.words[1], 1008);                                                                   \
    long words = 0;                                                                              \
    for (int k = 0; k < 32; ++k)                                                                 \
      words += (long)wide.words[k];                                                              \
    CHECK(words, total(N));                                                                      \
  }                                                                                              \
  static void name##_arrays(void) {                                                              \
    int array[7] = {0}, wanted[7] = {0};                                                         \
    double section[40] = {0};                                                                    \
    PRAGMA(construct reduction(+ : array, section [3:30]))                                       \
    for (int i = 0; i < N; ++i) {                                                                \
      array[i % 7] += i;                                                                         \
      section[3 + i % 30] += 1;                                                                  \
    }                                                                                            \
    for (int i = 0; i < N; ++i)                                                                  \
      wanted[i % 7] += i;                                                                        \
    for (int k = 0; k < 7; ++k)                                                                  \
      CHECK(array[k], wanted[k]);                                                                \
    for (int k = 0; k < 40; ++k)                                                                 \
      CHECK(section[k], k < 3 || k >= 33 ? 0 : N / 30);                                          \
  }

REDUCES(some_threads, omp target parallel for num_threads(77))
REDUCES(odd_blocks, omp target teams distribute parallel for simd num_teams(3) thread_limit(40))
REDUCES(teams, omp target teams distribute)

#define RUN(name) (name##_numbers(), name##_others(), name##_arrays())

int main(void) {
  RUN(some_threads);
  RUN(odd_blocks);
  RUN(teams);
  return finish();
}
