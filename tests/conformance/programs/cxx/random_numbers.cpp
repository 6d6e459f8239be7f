// covers: engines and distributions of <random>, whose templates compute with long double
// host: equal
#include <cstdio>
#include <random>

int main() {
  const int n = 40;
  double sums[4] = {0, 0, 0, 0};
#pragma omp target teams distribute parallel for map(tofrom : sums) reduction(+ : sums)
  for (int i = 0; i < n; i++) {
    std::mt19937 engine(i);
    std::minstd_rand simple(i + 1);
    std::mt19937_64 wide(7 * i);
    std::uniform_real_distribution<double> unit(0, 1);
    std::uniform_int_distribution<int> die(1, 6);
    std::normal_distribution<double> bell(2, 0.5);
    std::exponential_distribution<float> decay(2);
    for (int draw = 0; draw < 5; draw++) {
      sums[0] += unit(engine) * die(engine);
      sums[1] += bell(wide) + unit(wide);
      sums[2] += decay(simple);
      sums[3] += unit(simple);
    }
  }
  std::printf("%.6f %.6f %.3f %.6f\n", sums[0], sums[1], sums[2], sums[3]);
  return 0;
}
