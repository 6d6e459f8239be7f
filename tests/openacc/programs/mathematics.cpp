// Mathematical functions, which GPUs have in a library, in the forms of C and of C++.
#include <cmath>
#include <cstdio>

#define N 64

static int failures;

template <class T>
static void compare(const char *name, const T *got, const T *expected) {
  for (int i = 0; i < N; i++) {
    const T least = sizeof(T) == 8 ? 1e-12 : 1e-5f, size = std::fabs(expected[i]);
    if (!(std::fabs(got[i] - expected[i]) <= least * (size > 1 ? size : 1)) && failures++ < 10)
      std::printf("%s of %d: %g and not %g\n", name, i, (double)got[i], (double)expected[i]);
  }
}

#define ALL(DO)                                                                                         \
  DO(sin(x)) DO(cos(x)) DO(tan(x)) DO(asin(x / 8)) DO(acos(x / 8)) DO(atan(x)) DO(atan2(x, T(2)))        \
  DO(sinh(x)) DO(cosh(x)) DO(tanh(x)) DO(exp(x)) DO(exp2(x)) DO(expm1(x)) DO(log(x)) DO(log2(x))         \
  DO(log10(x)) DO(log1p(x)) DO(pow(x, T(1.5))) DO(sqrt(x)) DO(cbrt(x)) DO(hypot(x, T(3))) DO(erf(x))      \
  DO(tgamma(x)) DO(fmod(x, T(0.7))) DO(floor(x)) DO(round(x)) DO(fabs(x)) DO(fmax(x, T(3)))              \
  DO(ldexp(x, 3)) DO(T(lround(x))) DO(T(llrint(x))) DO(fma(x, x, x))

#define SHORT(DO) DO(sinf(x)) DO(expf(x)) DO(powf(x, 1.5f)) DO(sqrtf(x)) DO(atan2f(x, 2.0f)) DO(logf(x))

template <class T>
static void functions() {
  using namespace std;
  T list[N], got[N], expected[N];
  for (int i = 0; i < N; i++) list[i] = T(i + 1) / 9;
#define ONE(what)                                                         \
  _Pragma("acc parallel loop copyin(list) copyout(got)") for (int i = 0; i < N; i++) { \
    const T x = list[i];                                                  \
    got[i] = what;                                                        \
  }                                                                       \
  for (int i = 0; i < N; i++) {                                           \
    const T x = list[i];                                                  \
    expected[i] = what;                                                   \
  }                                                                       \
  compare(#what, got, expected);
  ALL(ONE)
}

static void of_c() {
  typedef float T;
  T list[N], got[N], expected[N];
  for (int i = 0; i < N; i++) list[i] = T(i + 1) / 9;
  SHORT(ONE)
}

/* Of whole numbers, in parts, and by their names in the compiler. */
static void others() {
  double got[N], expected[N];
#pragma acc parallel loop copyout(got)
  for (int i = 0; i < N; i++) {
    double whole;
    float short_whole;
    int power;
    got[i] = std::sin(i) + std::sqrt(i) + std::modf(i / 7.0, &whole) + std::frexp(i + 1.0, &power) + __builtin_cos(i);
    got[i] += whole + power + std::modf(i / 8.0f, &short_whole) + short_whole;
  }
  for (int i = 0; i < N; i++) {
    double whole;
    float short_whole;
    int power;
    expected[i] = std::sin(i) + std::sqrt(i) + std::modf(i / 7.0, &whole) + std::frexp(i + 1.0, &power) + __builtin_cos(i);
    expected[i] += whole + power + std::modf(i / 8.0f, &short_whole) + short_whole;
  }
  compare("others", got, expected);
}

int main() {
  functions<double>();
  functions<float>();
  of_c();
  others();
  if (!failures) std::puts("ok");
  return failures != 0;
}
