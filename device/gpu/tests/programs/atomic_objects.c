// Atomic operations on objects that no instruction takes: too large, or with too little alignment.
#include "check.h"
#include <complex.h>
#include <stdatomic.h>

struct three {
  double x, y, z;
};

struct __attribute__((packed)) odd {
  char first;
  float _Complex value;
};

int main(void) {
  const int n = 700;
  double complex large = 0;
  float complex small = 0;
  const struct three zeros = {0};
  _Atomic struct three structure = zeros;
  struct odd odd[8] = {0};
  int torn = 0;
#pragma omp target teams distribute parallel for num_teams(7) num_threads(50)                    \
    map(tofrom : large, small, structure, odd, torn)
  for (int i = 0; i < n; ++i) {
#pragma omp atomic
    large += 1 + I * i;
#pragma omp atomic
    small += 2 - I;
    struct three old = atomic_load(&structure), new;
    do {
      new = (struct three){old.x + 1, old.y + i, old.z - 1};
    } while (!atomic_compare_exchange_weak(&structure, &old, new));
#pragma omp atomic
    odd[i % 8].value += 1;
    if (new.x != -new.z) {
#pragma omp atomic
      torn++;
    }
  }
  CHECK(creal(large), n);
  CHECK(cimag(large), n * (n - 1) / 2);
  CHECK(crealf(small), 2 * n);
  CHECK(cimagf(small), -n);
  struct three result = structure;
  CHECK(result.x, n);
  CHECK(result.y, n * (n - 1) / 2);
  CHECK(result.z, -n);
  CHECK(torn, 0);
  for (int i = 0; i < 8; ++i) CHECK(crealf(odd[i].value), n / 8 + (i < n % 8));

  double complex read = 0;
  int swapped = 1;
#pragma omp target map(tofrom : structure, large, small, read, swapped)
  {
    struct three one = {1, 2, 3}, four = {4, 5, 6};
    atomic_store(&structure, one);
    swapped = atomic_compare_exchange_strong(&structure, &four, one);
    // What was found is the object's.
    four.y += 10;
    one = atomic_exchange(&structure, four);
#pragma omp atomic write
    large = one.x + one.z * I;
#pragma omp atomic write release
    small = 8 * I;
#pragma omp atomic read acquire
    read = large;
  }
  result = structure;
  CHECK(swapped, 0);
  CHECK(result.y, 12);
  CHECK(result.z, 3);
  CHECK(creal(read), 1);
  CHECK(cimag(large), 3);
  CHECK(cimagf(small), 8);
  return finish();
}
