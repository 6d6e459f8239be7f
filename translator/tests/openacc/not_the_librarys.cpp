#include <math.h>

namespace my {
double log(double x);
}
struct Logger {
  static double floor(double x);
};

void loops(int n, double *__restrict a, double (*exp)(double)) {
#pragma acc kernels copy(a[0:n])
  {
    for (int i = 0; i < n; i++) a[i] = exp(a[i]);
    for (int i = 0; i < n; i++) a[i] = my::log(a[i]);
    for (int i = 0; i < n; i++) a[i] = Logger::floor(a[i]);
    for (int i = 0; i < n; i++) a[i] = ::sqrt(a[i]);
  }
}
