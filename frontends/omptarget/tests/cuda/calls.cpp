// Regions of one kind, over and over: the test counts what they ask of the driver.
#include "device.h"
#include <cstdlib>
#include <cstring>

int main(int argc, char **argv) {
  if (argc != 3)
    return 2;
  const char *kind = argv[1];
  int rounds = atoi(argv[2]);
  double a[8] = {}, b[8] = {}, c[8] = {};
  static double large[1 << 17];
#pragma omp target enter data map(to : a, b, c)
  for (int round = 0; round < rounds; ++round) {
    if (!strcmp(kind, "empty")) {
#pragma omp target
      {
      }
    } else if (!strcmp(kind, "present")) {
#pragma omp target map(tofrom : a, b, c)
      a[0] += b[0] + c[0] + 1;
    } else if (!strcmp(kind, "fresh")) {
      double x[8] = {1}, y[8] = {2}, z[8] = {3};
      long n = round;
#pragma omp target map(tofrom : x, y, z)
      x[0] += y[0] + z[0] + n;
      if (x[0] != 6 + n)
        return 1;
    } else if (!strcmp(kind, "large")) {
#pragma omp target map(tofrom : large)
      large[7] += 1;
      if (large[7] != round + 1)
        return 1;
    } else {
      return 2;
    }
  }
#pragma omp target exit data map(from : a, b, c)
  return !strcmp(kind, "present") && a[0] != rounds;
}
