// Reductions of classes of hundreds of bytes, over teams and inside of them, in one program.
//
// The constructor has no loop over references: at -O0 its iterator would be the team's.
#include "check.h"

namespace {

struct Histogram {
  double sum[32];
  int count[64];
  Histogram() {
    for (int k = 0; k < 32; ++k)
      sum[k] = 0;
    for (int k = 0; k < 64; ++k)
      count[k] = 0;
  }
  Histogram(const Histogram &) = default;
  void add(int i) {
    sum[i % 32] += i;
    count[i % 64]++;
  }
  Histogram &operator+=(const Histogram &other) {
    for (int k = 0; k < 32; ++k)
      sum[k] += other.sum[k];
    for (int k = 0; k < 64; ++k)
      count[k] += other.count[k];
    return *this;
  }
};

#pragma omp declare reduction(+ : Histogram : omp_out += omp_in)

constexpr int N = 2500;

void check(const Histogram &found, const Histogram &expected) {
  for (int k = 0; k < 32; ++k)
    CHECK(found.sum[k], expected.sum[k]);
  for (int k = 0; k < 64; ++k)
    CHECK(found.count[k], expected.count[k]);
}

template <typename T> void reduce() {
  Histogram all, inner, expected, rows_expected, part[4];
  T sum = 0;
#pragma omp target teams distribute parallel for reduction(+ : all, part, sum) map(tofrom : all, part, sum)
  for (int i = 0; i < N; ++i) {
    all.add(i);
    part[i % 4].add(i);
    sum += i % 7;
  }
#pragma omp target teams distribute reduction(+ : inner) map(tofrom : inner) num_teams(3)
  for (int i = 0; i < 10; ++i) {
    Histogram row;
#pragma omp parallel for reduction(+ : row)
    for (int j = 0; j < 100; ++j)
      row.add(i * 100 + j);
    inner += row;
  }
  Histogram parts, first;
  for (int i = 0; i < N; ++i) {
    expected.add(i);
    if (i % 4 == 0)
      first.add(i);
    if (i < 1000)
      rows_expected.add(i);
    sum -= i % 7;
  }
  for (const Histogram &each : part)
    parts += each;
  check(all, expected);
  check(inner, rows_expected);
  check(parts, expected);
  check(part[0], first);
  CHECK(sum, 0);
}

} // namespace

int main() {
  reduce<int>();
  reduce<double>();
  return finish();
}
