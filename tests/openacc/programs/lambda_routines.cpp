// A routine directive before a lambda expression says nothing of the function behind that.
#include <cstdio>

#pragma acc routine vector bind(negative)
auto positive = [](const int *row, int n) {
  int sum = 0;
  for (int j = 0; j < n; ++j) sum += row[j];
  return sum;
};

static int twice(int x) { return 2 * x; }

int negative(const int *row, int n) {
  int sum = 0;
#pragma acc loop reduction(+ : sum)
  for (int j = 0; j < n; ++j) sum -= row[j];
  return sum;
}

int main() {
  enum { N = 40 };
  static int rows[N][N], sums[N];
  for (int i = 0; i < N; ++i)
    for (int j = 0; j < N; ++j) rows[i][j] = i + j;
#pragma acc parallel loop gang worker vector copyin(rows) copyout(sums)
  for (int i = 0; i < N; ++i) sums[i] = twice(negative(rows[i], N));
  for (int i = 0; i < N; ++i)
    if (sums[i] != -2 * positive(rows[i], N)) {
      std::printf("%d: %d\n", i, sums[i]);
      return 1;
    }
  std::puts("ok");
}
