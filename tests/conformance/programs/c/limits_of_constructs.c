// covers: many scalars, 64-bit trip counts, deep collapse, empty sections, chains, regions of 8 host threads
#include <omp.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define THREADS 8

static void many_scalars(void)
{
  int a0 = 0, a1 = 1, a2 = 2, a3 = 3, a4 = 4, a5 = 5, a6 = 6, a7 = 7, a8 = 8, a9 = 9,
      b0 = 0, b1 = 1, b2 = 2, b3 = 3, b4 = 4, b5 = 5, b6 = 6, b7 = 7, b8 = 8, b9 = 9,
      c0 = 0, c1 = 1, c2 = 2, c3 = 3, c4 = 4, c5 = 5, c6 = 6, c7 = 7, c8 = 8, c9 = 9,
      d0 = 0, d1 = 1, d2 = 2, d3 = 3, d4 = 4, d5 = 5, d6 = 6, d7 = 7, d8 = 8, d9 = 9;
  int sum = 0;
#pragma omp target map(tofrom: sum, a0, c9)
  {
    sum = a0 + a1 + a2 + a3 + a4 + a5 + a6 + a7 + a8 + a9 +
        b0 + b1 + b2 + b3 + b4 + b5 + b6 + b7 + b8 + b9 +
        c0 + c1 + c2 + c3 + c4 + c5 + c6 + c7 + c8 + c9 +
        d0 + d1 + d2 + d3 + d4 + d5 + d6 + d7 + d8 + d9;
    a0 = 77;
    c9 = 88;
  }
  printf("scalars: %d %d %d\n", sum, a0, c9);
}

static void trip_counts(void)
{
  uint64_t sum = 0;
  const int64_t high = INT64_C(0x7fffffff00000000), low = INT64_C(0x7ffffffe00000000);
#pragma omp target teams distribute parallel for reduction(+: sum) map(tofrom: sum)
  for (int64_t i = high; i > low; i -= INT64_C(0x00100001))
    sum += (uint64_t)i & 0xff;
  printf("down: %llu\n", (unsigned long long)sum);

  sum = 0;
#pragma omp target teams distribute parallel for reduction(+: sum) map(tofrom: sum)
  for (uint64_t i = UINT64_MAX - 1000; i < UINT64_MAX - 10; i += 7)
    sum += i & 0xff;
  printf("near the largest: %llu\n", (unsigned long long)sum);

  long nest = 0;
#pragma omp target teams distribute parallel for collapse(6) reduction(+: nest) map(tofrom: nest)
  for (int i = 0; i < 5; i++)
    for (int j = 7; j > 0; j -= 2)
      for (int k = -3; k <= 3; k++)
        for (long l = 0; l < 4; l++)
          for (short m = 0; m < 3; m++)
            for (unsigned char n = 0; n < 9; n += 4)
              nest += i + 10 * j + 100 * k + l * 3 + m + n;
  printf("six loops: %ld\n", nest);
}

static void nothing_to_map(void)
{
  double *none = NULL;
  int count = 0, was_null = 0;
#pragma omp target map(tofrom: none[:count]) map(from: was_null)
  was_null = none == NULL;
#pragma omp target teams distribute parallel for map(tofrom: none[:count])
  for (int i = 0; i < count; i++)
    none[i] = 0;
  printf("null stays null: %d\n", was_null);
}

static void one_thread(void)
{
  int threads = 0;
#pragma omp target teams thread_limit(1) num_teams(1) map(tofrom: threads)
  {
#pragma omp parallel
    threads = omp_get_num_threads();
  }
  printf("threads of a team of one: %d\n", threads);
}

static void chain(void)
{
  double x = 1;
#pragma omp target data map(tofrom: x)
  {
    for (int i = 0; i < 20; i++) {
#pragma omp target nowait depend(inout: x) map(tofrom: x) firstprivate(i)
      x = x * 1.5 + i;
    }
#pragma omp taskwait
  }
  printf("chain: %.6f\n", x);
}

static void *work(void *argument)
{
  long number = *(long *)argument, sum = 0;
  int values[50];
  for (int round = 0; round < 20; round++) {
#pragma omp target teams distribute parallel for map(from: values)
    for (int i = 0; i < 50; i++)
      values[i] = i * (int)number + round;
    for (int i = 0; i < 50; i++)
      sum += values[i];
  }
  *(long *)argument = sum;
  return NULL;
}

int main(void)
{
  many_scalars();
  trip_counts();
  nothing_to_map();
  one_thread();
  chain();
  pthread_t threads[THREADS];
  long numbers[THREADS], sum = 0;
  for (int i = 0; i < THREADS; i++) {
    numbers[i] = i;
    if (pthread_create(&threads[i], NULL, work, &numbers[i]) != 0)
      return 1;
  }
  for (int i = 0; i < THREADS; i++) {
    pthread_join(threads[i], NULL);
    sum += numbers[i];
  }
  printf("host threads: %ld\n", sum);
  return 0;
}
