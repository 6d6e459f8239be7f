// A kernel that takes long, and a copy behind it that does not.
#include "device.h"

int main() {
  static int data[1 << 15];
#pragma omp target map(tofrom : data)
  for (int i = 0; i < 2000000; ++i)
    data[i & 1023] = data[(i * 7) & 1023] + i;
}
