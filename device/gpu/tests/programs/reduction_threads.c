// Every kind of number of threads: full warps, one lane more or less, and whatever is between.

#include "check.h"

int main(void) {
  for (int threads = 1; threads <= 1024; threads += threads < 70 ? 1 : threads % 32 == 1 ? 30 : 1) {
    long sum = 0, most = -1;
    int count = 0;
#pragma omp target parallel num_threads(threads) thread_limit(1024) \
    reduction(+ : sum, count) reduction(max : most) map(tofrom : sum, count, most)
    {
      long me = omp_get_thread_num();
      sum += me * me;
      count++;
      most = me;
    }
    long wanted = 0;
    for (long i = 0; i < count; ++i)
      wanted += i * i;
    CHECK(sum, wanted);
    CHECK(most, count - 1);
    CHECK(count >= 1 && count <= threads, 1);
  }
  for (int limit = 1; limit <= 256; limit += limit < 34 ? 1 : 37) {
    long sum = 0;
#pragma omp target teams distribute parallel for num_teams(1 + limit % 7) thread_limit(limit) \
    reduction(+ : sum)
    for (int i = 0; i < 1000; ++i)
      sum += i;
    CHECK(sum, 499500);
  }
  return finish();
}
