// Reads what nobody has copied to the device: data of all sizes, twice where other data was, and what a kernel allocates.
#include "device.h"
#include <cstdio>
#include <cstdlib>

#pragma omp begin declare target
struct Found {
  int numbers, kept;
};
static void look(Found &found, const double *values, int count) {
  for (int i = 0; i < count; i++)
    found.numbers += values[i] == values[i];
}
#pragma omp end declare target

int main() {
  for (int count = 1; count <= 100000; count *= 10) {
    double *data = new double[count]();
    float less[3] = {};
    for (int round = 0; round < 2; round++) {
      Found found = {};
#pragma omp target map(from : data[0 : count], less) map(tofrom : found)
      {
        look(found, data, count);
        for (int i = 0; i < 3; i++)
          found.numbers += less[i] == less[i];
        double *block = static_cast<double *>(malloc(800));
        look(found, block, 100);
        for (int i = 0; i < 100; i++)
          block[i] = 1;
        free(block);
        data[0] = less[0] = found.kept = 1;
      }
      for (int i = 1; i < count; i++)
        found.numbers += data[i] == data[i];
      if (found.numbers || !found.kept || data[0] != 1 || less[0] != 1)
        printf("%d: %d numbers, %d, %g, %g\n", count, found.numbers, found.kept, data[0], less[0]);
#pragma omp target map(tofrom : data[0 : count], less)
      data[0] = less[0] = 3;
    }
    delete[] data;
  }
  puts("done");
}
