// flags: -O2
// Variable arguments in a loop that is inlined.
#include <stdarg.h>

#pragma omp begin declare target
static inline long taken(int n, ...) {
  va_list arguments;
  va_start(arguments, n);
  long sum = 0;
  for (int i = 0; i < n; i++)
    if (i % 3 == 1)
      sum += va_arg(arguments, int);
    else if (i % 3 == 2)
      sum += (long)va_arg(arguments, double);
    else
      sum ^= va_arg(arguments, long);
  va_end(arguments);
  return sum;
}
#pragma omp end declare target

// Not in `main`, where clang refuses variable arguments.
static long in_region(void) {
  long sum = 0;
#pragma omp target parallel for map(tofrom : sum) reduction(+ : sum)
  for (int i = 0; i < 100; i++)
    sum += taken(i % 6, (long)i, i * 3, 2.5, 5L, 11);
  return sum;
}

int main(void) {
  const long steps[6] = {0, 0, 0, 2, 0, 11};
  long expected = 0;
  for (long i = 0; i < 100; i++) {
    long sum = 0;
    if (i % 6 > 0)
      sum ^= i;
    if (i % 6 > 1)
      sum += i * 3;
    if (i % 6 > 2)
      sum += steps[3];
    if (i % 6 > 3)
      sum ^= 5;
    if (i % 6 > 4)
      sum += steps[5];
    expected += sum;
  }
  return in_region() != expected;
}
