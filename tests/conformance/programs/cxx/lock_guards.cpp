// covers: locks that constructors take and destructors give back
#include <cstdio>
#include <omp.h>

class guard {
  omp_lock_t *lock;

public:
  explicit guard(omp_lock_t *lock) : lock(lock) { omp_set_lock(lock); }
  ~guard() { omp_unset_lock(lock); }
};

struct histogram {
  omp_lock_t locks[4];
  long count[4];
  int add(int value) {
    guard held(&locks[value % 4]);
    if (value % 5 == 0)
      return -1;
    return count[value % 4] += value;
  }
};

int main() {
  long total = 0;
  int skipped = 0;
#pragma omp target map(tofrom : total, skipped)
  {
    histogram all;
    for (int i = 0; i < 4; i++) {
      omp_init_lock(&all.locks[i]);
      all.count[i] = 0;
    }
#pragma omp parallel for num_threads(96) reduction(+ : skipped)
    for (int i = 0; i < 300; i++)
      skipped += all.add(i) < 0;
    for (int i = 0; i < 4; i++)
      total += all.count[i];
  }
  std::printf("%ld %d\n", total, skipped);
  return 0;
}
