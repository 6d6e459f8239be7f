// A kernel that writes where nothing is, then others that are not to blame.
#include "device.h"
#include <cstdlib>
#include <cstring>

int main(int, char **argv) {
  int *wild = reinterpret_cast<int *>(atol(argv[1])), copied[4096] = {};
#pragma omp target map(tofrom : copied) firstprivate(wild)
  *wild = copied[0];
#pragma omp target map(tofrom : copied)
  copied[0] += 1;
}
