// flags: -O2
// Constant structures of a function whose members are read by index and through references.
struct Entry {
  int key;
  double weights[3];
  char mark;
};
struct Table {
  Entry entries[2];
  short more;
};

#pragma omp begin declare target
static const Entry &chosen(const Table &from, int i) { return from.entries[i % 2]; }

static long by_reference(int i) {
  constexpr Table fixed = {{{11, {7.5, 8.5, 9.5}, 'c'}, {13, {10.5, 11.5, 12.5}, 'd'}}, 5};
  const Entry &other = chosen(fixed, i + 1);
  return other.key + other.mark * 10000L + (long)(2 * other.weights[(i + 1) % 3]) + fixed.more;
}

struct Three {
  short values[3];
  constexpr const short &operator[](int i) const { return values[i]; }
};

static long by_index(int i) {
  constexpr Three list = {{60, 61, 37}};
  long sum = list[i % 3] * 1000L;
  for (int k = 0; k < 3; ++k) sum += list[k];
  return sum;
}
#pragma omp end declare target

int main() {
  long got[64];
#pragma omp target teams distribute parallel for map(from : got)
  for (int i = 0; i < 64; ++i) got[i] = by_reference(i) + by_index(i);
  for (int i = 0; i < 64; ++i)
    if (got[i] != by_reference(i) + by_index(i)) return 1;
  return 0;
}
