// covers: objects that functions return by a place of the caller, std::unique_ptr and std::shared_ptr, in code of one thread and of many
#include <cstdio>
#include <memory>

#pragma omp begin declare target
struct Row {
  double v[5];
  explicit Row(double first) {
    for (int i = 0; i < 5; i++) v[i] = first + i;
  }
  Row(const Row &) = default;
  double sum() const {
    double total = 0;
    for (double one : v) total += one;
    return total;
  }
};
static Row row(int i) { return Row(i * 0.5); }
#pragma omp end declare target

int main() {
  double alone = 0, sums = 0;
  int owned = 0;
  long users = 0;
#pragma omp target map(tofrom : alone, owned, users)
  {
    Row one = row(4);
    alone = one.sum();
    auto unique = std::make_unique<int>(7);
    owned = *unique;
    auto first = std::make_shared<int>(8);
    auto second = first;
    *second += 1;
    owned += *first;
    users = first.use_count();
  }
#pragma omp target teams distribute parallel for reduction(+ : sums)
  for (int i = 0; i < 100; i++) {
    Row one = row(i);
    sums += one.sum();
  }
  std::printf("%g %d %ld %g\n", alone, owned, users, sums);
}
