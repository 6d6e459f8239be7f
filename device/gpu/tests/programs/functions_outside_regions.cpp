// Functions that all threads of an SPMD kernel call outside of its regions: constructors, destructors, iterators,
// lambdas, bounds of loops. Each thread has local variables of its own there, though others may get their address.
#include "check.h"
#include <ompx.h>

#pragma omp begin declare target
int faults, calls;

static void expect(bool right) {
#pragma omp atomic
  calls++;
  if (!right) {
#pragma omp atomic
    faults++;
  }
}

// A different number of steps in each lane.
__attribute__((noinline)) void count(volatile int *to, int number) {
  *to = 0;
  for (int step = 0; step < number % 32; ++step)
    *to = *to + 1;
  *to = *to + number / 32 * 32;
}

__attribute__((noinline)) int same(int number) {
  int first, second;
  count(&first, number);
  count(&second, first);
  return second;
}

template <int N> __attribute__((noinline)) int sum(const int (&numbers)[N]) {
  int result = 0;
  for (const int &number : numbers)
    result += number;
  return result;
}

// More than a thread's part of shared memory.
template <int N> __attribute__((noinline)) void fill(int number) {
  int numbers[N];
  for (int &element : numbers)
    element = number;
  expect(sum(numbers) == N * number);
}

struct Sum {
  long value;
  int filler[5];
  Sum() : value(0) {
    int me = ompx_thread_id(0);
    expect(same(me) == me);
    fill<5>(me);
    fill<200>(me);
    auto shifted = [&](int by) {
      int result;
      count(&result, me + by);
      return result;
    };
    expect(shifted(3) == me + 3);
  }
  ~Sum() {
    int me = ompx_thread_id(0);
    expect(same(me) == me);
  }
};
#pragma omp end declare target
#pragma omp declare reduction(+ : Sum : omp_out.value += omp_in.value) initializer(omp_priv = Sum())

struct Large {
  int at[100];
};

static void run(int iterations, int threads) {
  Sum total;
  Large last;
  int small = -1;
  total.value = 0;
#pragma omp target teams distribute parallel for reduction(+ : total) lastprivate(last, small)                    \
    map(tofrom : total, last, small) num_teams(2) thread_limit(threads)
  for (int i = same(0); i < same(iterations); i += same(1)) {
    total.value += i;
    for (int &element : last.at)
      element = i;
    small = i;
  }
  CHECK(total.value, (long)iterations * (iterations - 1) / 2);
  for (int element : last.at)
    CHECK(element, iterations - 1);
  CHECK(small, iterations - 1);
}

int main() {
  const int THREADS[] = {1, 33, 128};
  for (int threads : THREADS)
    run(500, threads);
#pragma omp target update from(faults, calls)
  CHECK(faults, 0);
  CHECK(calls > 0, true);
  return finish();
}
