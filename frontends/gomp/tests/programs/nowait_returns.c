/* Constructs that nobody waits for, outside of parallel regions, in programs that do not wait but
   work with libgomp: small results, variables of functions that have returned, and what exit
   handlers read. */
#include "check.h"
#include <string.h>

enum { LONG = 1 << 15, ROUNDS = 20000 };

static int number, numbers[8], list[LONG];

static void small_results(void)
{
  for (int i = 0; i < 3; i++) {
#pragma omp target map(tofrom : number) nowait
    for (int k = 0; k < ROUNDS; k++)
      number += k == 0;
  }
  CHECK(number == 3);
#pragma omp target enter data map(to : numbers)
#pragma omp target
  numbers[7] = 7;
#pragma omp target update from(numbers) nowait
  CHECK(numbers[7] == 7);
#pragma omp target map(always, from : numbers) nowait
  numbers[6] = 6;
  CHECK(numbers[6] == 6);
#pragma omp target
  numbers[5] = 5;
#pragma omp target exit data map(from : numbers) nowait
  CHECK(numbers[5] == 5);
}

static __attribute__((noinline)) void begin(void)
{
  int local[LONG];
  local[0] = 1;
#pragma omp target map(tofrom : local) nowait depend(out : list)
  for (int k = 0; k < ROUNDS; k++)
    local[k] = 7;
}

/* Stands where the other's frame was. */
static __attribute__((noinline)) void follow(void)
{
  volatile int local[LONG];
  for (int i = 0; i < LONG; i++)
    local[i] = 3;
  for (int round = 0; round < 100; round++)
    for (int i = 0; i < LONG; i++)
      CHECK(local[i] == 3);
}

static void at_exit(void)
{
  for (int i = 0; i < LONG; i++)
    CHECK(list[i] == 5);
  puts("passed");
}

int main(void)
{
  CHECK(atexit(at_exit) == 0);
  small_results();
  begin();
  follow();
#pragma omp target map(from : list) nowait
  for (int k = 0; k < 4; k++)
    for (int i = 0; i < LONG; i++)
      list[i] = k + 2;
  return 0;
}
