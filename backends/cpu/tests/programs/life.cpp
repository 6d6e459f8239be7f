// An image with an initialiser and a finaliser, and an exception thrown and
// caught inside a region.
#include <cstdlib>
#include <stdexcept>

#pragma omp declare target
struct Life {
  int *witness = nullptr;
  int value;
  Life() : value(42) {}
  ~Life() { if (witness) *witness = value; }
};
Life life;
#pragma omp end declare target

int main() {
  int value = 0;
#pragma omp target map(from : value)
  value = life.value;
  int *witness = nullptr;
#pragma omp target firstprivate(witness)
  life.witness = witness;
  int caught = 0;
#pragma omp target map(tofrom : caught)
  {
    try {
      if (caught == 0) throw std::runtime_error("inside");
    } catch (const std::runtime_error &) {
      caught = 1;
    }
  }
  return value + caught;
}
