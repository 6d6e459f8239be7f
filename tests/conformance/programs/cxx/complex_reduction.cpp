// covers: std::complex in maps, user-defined reductions of classes, reductions over references
#include <complex>
#include <cstdio>

using Complex = std::complex<double>;
#pragma omp declare reduction(+ : Complex : omp_out += omp_in) initializer(omp_priv = Complex(0, 0))

struct Best {
  int index = -1;
  double value = -1e30;
};
#pragma omp declare reduction(best : Best : omp_out = omp_in.value > omp_out.value || \
    (omp_in.value == omp_out.value && omp_in.index < omp_out.index) ? omp_in : omp_out)

int main() {
  enum { N = 128 };
  Complex z[N], sum = 0;
  for (int i = 0; i < N; i++) z[i] = Complex(i, -0.5 * i);
#pragma omp target teams distribute parallel for map(tofrom : sum) map(to : z) reduction(+ : sum)
  for (int i = 0; i < N; i++) sum += z[i] * Complex(0, 1);
  std::printf("%g %g\n", sum.real(), sum.imag());
  Best best;
#pragma omp target parallel for map(tofrom : best) map(to : z) reduction(best : best)
  for (int i = 0; i < N; i++) {
    const double value = -(z[i].real() - 40) * (z[i].real() - 40);
    if (value > best.value) {
      best.value = value;
      best.index = i;
    }
  }
  std::printf("%d %g\n", best.index, best.value);
}
