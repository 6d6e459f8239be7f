// Constants of the program, which clang maps as if regions could change them.
#include <new>

#include "check.h"

struct Pair {
  int first, second;
};

static const double small[4] = {1, 2, 3, 4};
static const double large[100000] = {5, 6, 7};
static const Pair pair = {8, 9};
extern const char text[] = "abc";
// With relocations: constant when the program runs.
static int target = 10;
static int *const pointers[] = {&target, nullptr, &target};

int main() {
  int variable[4] = {1, 2, 3, 4};
  double sum = 0;
  long length = 0;
  int got = 0;
#pragma omp target map(tofrom : sum, length, got)
  {
    for (int i = 0; i < 4; ++i) sum += small[i] + large[i];
    sum += pair.first + pair.second;
    length = sizeof text + (text[3] == 0);
    got = (pointers[0] == pointers[2]) + (pointers[1] == nullptr);
    variable[2] = 33;
    int *block = new (std::nothrow) int[100];
    if (block) block[99] = 1;
    got += block ? block[99] : 0;
    delete[] block;
  }
  CHECK(sum, 45);
  CHECK(length, 5);
  CHECK(got, 3);
  CHECK(variable[2], 33);
#pragma omp target data map(tofrom : small, large, pair)
  {
    double again = 0;
#pragma omp target map(tofrom : again) map(always, tofrom : pair)
    again = small[3] + large[2] + pair.second;
    CHECK(again, 20);
  }
#pragma omp target parallel for map(tofrom : small[1 : 2], large[0 : 3], small[2])
  for (int i = 0; i < 3; ++i) variable[i] = (int)(large[i] + small[1]);
  CHECK(variable[0] + variable[1] + variable[2], 24);
  return finish();
}
