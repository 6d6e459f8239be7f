#include <math.h>

typedef struct { double x, y; } Point;
static const int few = 3;
static int counter;
static double table[4];

static int larger(int a, int b, int c) {
  int most = a > b ? a : b;
  return most > c ? most : c;
}
static double length(Point p) {
  double parts[2] = {p.x * p.x, p.y * p.y};
  double sum = -few;
  for (int i = 0; i < 2; i++) sum += parts[i];
  return sqrt(sum);
}
static int steps(int n) { return n < 2 ? larger(n, 1, 0) : 1 + steps(n % 2 ? 3 * n + 1 : n / 2); }

static int counts(int a) { return a + counter++; }
static double looks(int a) { return table[a & 3]; }
static double follows(const double *p) { return *p; }
static double first(double list[4]) { return list[0]; }
static int remembers(int a) {
  static int last;
  int before = last;
  last = a;
  return before;
}
static int addressed(int a) {
  int *p = &a;
  return p[0];
}
int unknown(int a);

void loops(int n, int *restrict a, double *restrict b, Point *restrict p) {
#pragma acc kernels copy(a[0:n], b[0:n], p[0:n])
  {
    for (int i = 0; i < n; i++) a[i] = larger(a[i], i, steps(i));
    for (int i = 0; i < n; i++) b[i] = length(p[i]);
    for (int i = 0; i < n; i++) a[i] = counts(i);
    for (int i = 0; i < n; i++) b[i] = looks(i);
    for (int i = 0; i < n; i++) b[i] = follows(b);
    for (int i = 0; i < n; i++) b[i] = first(b);
    for (int i = 0; i < n; i++) a[i] = remembers(i);
    for (int i = 0; i < n; i++) a[i] = addressed(i);
    for (int i = 0; i < n; i++) a[i] = unknown(i);
  }
}
