// Kernels that use what is not theirs: beside a variable, and through pointers of the host.
#include "device.h"
#include <cstdlib>
#include <cstring>

struct Vector {
  long count;
  long *data;
};

int main(int, char **argv) {
  long far = atol(argv[2]), *array = new long[100](), *other = new long[1000](), *pointers[1] = {other};
  if (!strcmp(argv[1], "beside")) {
#pragma omp target map(tofrom : array[0 : 100])
    array[far] = 1;
  } else if (!strcmp(argv[1], "unmapped")) {
#pragma omp target map(tofrom : array[0 : 100])
    array[1] = other[far];
  } else if (!strcmp(argv[1], "inside")) {
#pragma omp target enter data map(to : other[0 : 1000])
#pragma omp target map(tofrom : array[0 : 100]) map(to : pointers)
    array[1] = pointers[0][far];
  } else if (!strcmp(argv[1], "member")) {
    Vector vector = {1000, other};
#pragma omp target map(tofrom : vector)
    vector.data[far] = 1;
  } else if (!strcmp(argv[1], "partly")) {
    Vector vector = {1000, other};
#pragma omp target data map(to : vector.data[0 : 1000]) map(to : vector.count)
#pragma omp target map(tofrom : array[0 : 100])
    array[1] = vector.data[far];
  }
}
