// Objects of C++ that device code makes: operators `new` and `delete`, of over-aligned types too, and a vector.
#include <cstdint>
#include <cstdio>
#include <new>
#include <vector>

struct Pair {
  int first, second;
  Pair(int a, int b) : first(a), second(b) {}
};

struct alignas(64) Line {
  int words[16];
};

int main() {
  int sum = 0, misaligned = 0, refused = 0;
#pragma omp target teams distribute parallel for reduction(+ : sum, misaligned, refused)
  for (int i = 0; i < 200; ++i) {
    Pair *pair = new Pair(i, 1);
    int *array = new int[3]{i, i, i};
    Line *line = new Line();
    char *maybe = new (std::nothrow) char[8];
    misaligned += reinterpret_cast<std::uintptr_t>(line) % 64 != 0;
    refused += maybe == nullptr;
    sum += pair->first + pair->second + array[2] + line->words[15];
    delete[] maybe;
    delete line;
    delete[] array;
    delete pair;
  }
  std::printf("%d %d %d\n", sum, misaligned, refused);

  int last = 0;
#pragma omp target map(from : last)
  {
    std::vector<int> numbers;
    for (int i = 0; i < 100; ++i)
      numbers.push_back(i);
    last = numbers.back() + static_cast<int>(numbers.size());
  }
  std::printf("%d\n", last);
}
