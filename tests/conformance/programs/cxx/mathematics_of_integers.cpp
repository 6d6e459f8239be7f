// covers: functions of <cmath> of integers and as compilers' builtins
// host: equal
#include <cmath>
#include <cstdio>

int main() {
  const int n = 20;
  double sums[3] = {0, 0, 0};
#pragma omp target teams distribute parallel for map(tofrom : sums) reduction(+ : sums)
  for (int i = 1; i <= n; i++) {
    sums[0] += std::sin(i) + std::cos(i) + std::tan(i) + std::atan(i) + std::sinh(i % 3) + std::tanh(i);
    sums[1] += std::exp(i % 5) + std::log(i) + std::log2(i) + std::log10(i) + std::sqrt(i) + std::cbrt(i);
    double fraction, whole;
    fraction = std::modf(i * 0.75, &whole);
    sums[2] += __builtin_tan(i * 0.1) + __builtin_acos(1.0 / i) + __builtin_pow(i, 0.3) + fraction + whole;
  }
#pragma omp target teams distribute parallel for map(tofrom : sums)
  for (int i = 0; i < 3; i++) {
#pragma clang fp reassociate(on) contract(fast)
    sums[i] += __builtin_exp2(i * 0.5) + __builtin_log(i + 1.0);
  }
  std::printf("%.5f %.5f %.5f\n", sums[0], sums[1], sums[2]);
  return 0;
}
