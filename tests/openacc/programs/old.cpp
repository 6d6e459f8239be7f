// options: -std=c++98
// In C++ of 1998.
#include <cstdio>

template <class T>
static T sum(const T *list, int n) {
  T s = 0;
#pragma acc parallel loop reduction(+ : s) copyin(list[0 : n])
  for (int i = 0; i < n; i++) s += list[i];
  return s;
}

struct Rows {
  double **rows;
  explicit Rows(int n) : rows(new double *[n]) {
    for (int i = 0; i < n; i++) rows[i] = new double[n];
  }
  double last(int n) {
    double **all = rows;
#pragma acc parallel loop collapse(2) copyout(all[0 : n][0 : n])
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++) all[i][j] = i * n + j;
    return all[n - 1][n - 1];
  }
};

int main() {
  int list[10];
#pragma acc parallel loop
  for (int i = 0; i < 10; i++) list[i] = i;
  double two[2] = {1.5, 2};
  if (sum(list, 10) != 45 || sum(two, 2) != 3.5 || Rows(6).last(6) != 35) return 1;
  std::puts("ok");
  return 0;
}
