// covers: constant objects of classes in a region's functions, read by index, by iterator and through references
// levels: O0 O1 O2 O3
#include <array>
#include <cstdio>

enum { N = 64 };

#pragma omp begin declare target
struct squares {
  long values[16];
  constexpr squares() : values() {
    for (int i = 0; i < 16; i++)
      values[i] = i * i + 16;
  }
  constexpr long operator[](int i) const { return values[i]; }
};

struct entry {
  int key;
  double weights[3];
  char mark;
};

struct table {
  entry entries[2];
  short more;
};

static long by_index(int i) {
  constexpr std::array<short, 3> list = {60, 61, 37};
  long sum = list[i % 3] * 1000L;
  for (auto value : list)
    sum += value;
  return sum;
}

static long by_operator(int i) {
  constexpr squares all;
  long sum = i;
  for (int round = 0; round < i % 4; round++)
    sum = sum * 3 + all[sum % 16];
  return sum + all[i % 16];
}

static const entry &chosen(const table &from, int i) { return from.entries[i % 2]; }

static long by_reference(int i) {
  const table both = {{{i % 2 ? 7 : 7, {1.5, 2.5, 3.5}, 'a'}, {9, {4.5, 5.5, 6.5}, 'b'}}, 3};
  constexpr table fixed = {{{11, {7.5, 8.5, 9.5}, 'c'}, {13, {10.5, 11.5, 12.5}, 'd'}}, 5};
  const entry &one = chosen(both, i), &other = chosen(fixed, i + 1);
  return one.key + (long)(2 * one.weights[i % 3]) * 100 + other.mark * 10000L + (long)(2 * other.weights[(i + 1) % 3]) +
         both.more * fixed.more;
}
#pragma omp end declare target

static int wrong;

static void compare(const char *how, const long *got, long (*function)(int)) {
  for (int i = 0; i < N; i++)
    if (got[i] != function(i)) {
      printf("%s at %d: %ld, expected %ld\n", how, i, got[i], function(i));
      wrong++;
      return;
    }
}

int main() {
  long index[N], op[N], reference[N], in_region[N];
#pragma omp target teams distribute parallel for map(from : index, op, reference)
  for (int i = 0; i < N; i++) {
    index[i] = by_index(i);
    op[i] = by_operator(i);
    reference[i] = by_reference(i);
  }
  compare("by index", index, by_index);
  compare("by operator", op, by_operator);
  compare("by reference", reference, by_reference);
#pragma omp target teams distribute map(from : in_region)
  for (int i = 0; i < N; i++) {
    constexpr squares all;
    in_region[i] = all[(i + (i & 7)) % 16];
  }
  compare("in the region", in_region, [](int i) { return (i + (i & 7)) % 16 * ((i + (i & 7)) % 16) + 16L; });
  puts(wrong ? "FAIL" : "PASS");
  return wrong != 0;
}
