/* Regions that nobody waits for: alone, many at a time, in order, and with data. */
#include "check.h"
#include <omp.h>

enum { MANY = 300 };

static void alone(void)
{
  int list[MANY], sum = 0;
  for (int i = 0; i < MANY; i++) {
    int value = i;
    /* The value of now, whenever the region runs. */
#pragma omp target nowait firstprivate(value) map(from : list[i : 1])
    list[i] = 2 * value;
    value = -1;
  }
#pragma omp taskwait
  for (int i = 0; i < MANY; i++)
    sum += list[i];
  CHECK(sum == MANY * (MANY - 1));
}

static void in_order(void)
{
  int number = 1, list[8] = {0};
#pragma omp target enter data nowait map(to : number, list) depend(out : number)
  for (int i = 0; i < 8; i++) {
#pragma omp target nowait map(tofrom : number, list[i]) depend(inout : number)
    number += number, list[i] = number;
  }
#pragma omp target update nowait from(number) depend(inout : number)
#pragma omp task shared(number) depend(inout : number)
  number += 1000;
#pragma omp target update nowait to(number) depend(inout : number)
#pragma omp target nowait map(tofrom : number) depend(inout : number)
  number++;
#pragma omp target exit data nowait map(from : number, list) depend(inout : number)
#pragma omp taskwait
  CHECK(number == 1257 && list[0] == 2 && list[7] == 256);
}

/* The host goes on while a region runs that waits for it, whether or not the region copies back: to
   memory that is not pinned, CUDA's drivers make the thread wait for that. */
static void at_the_same_time(int copies)
{
  enum { LARGE = 1 << 15 };
  static int result[LARGE];
  int device = omp_get_default_device(), host = omp_get_initial_device(), words[2] = {0, 0}, one = 1;
  int *flag = omp_target_alloc(sizeof words, device);
  CHECK(omp_target_memcpy(flag, words, sizeof words, 0, 0, device, host) == 0);
  result[LARGE - 1] = 0;
  if (copies) {
#pragma omp target nowait is_device_ptr(flag) map(from : result)
    {
      int value;
      do
#pragma omp atomic read
        value = *flag;
      while (value == 0);
      flag[1] = 1;
      result[LARGE - 1] = 5;
    }
  } else {
#pragma omp target nowait is_device_ptr(flag)
    {
      int value;
      do
#pragma omp atomic read
        value = *flag;
      while (value == 0);
      flag[1] = 1;
    }
  }
  CHECK(omp_target_memcpy(flag, &one, sizeof one, 0, 0, device, host) == 0);
#pragma omp taskwait
  CHECK(omp_target_memcpy(words, flag, sizeof words, 0, 0, host, device) == 0 && words[1] == 1);
  CHECK(result[LARGE - 1] == (copies ? 5 : 0));
  omp_target_free(flag, device);
}

/* Outside of parallel regions: what waits for tasks waits for regions, too. */
static void waited_for(void)
{
  enum { ROUNDS = 50 };
  for (int round = 0; round < ROUNDS; round++) {
    int a = 1, b = 2, c = 0;
#pragma omp target nowait map(tofrom : a) depend(out : a)
    a += 10;
#pragma omp target nowait map(tofrom : b) depend(out : b)
    b += 10;
    /* The host runs it at once, when both are done. */
#pragma omp task shared(a, b, c) depend(in : a, b) depend(out : c)
    c = a + b;
    CHECK(c == 23);
#pragma omp target nowait map(tofrom : a) depend(inout : a)
    a++;
#pragma omp taskwait depend(in : a)
    CHECK(a == 12);
#pragma omp taskgroup
    {
#pragma omp target nowait map(tofrom : c)
      c++;
    }
    CHECK(c == 24);
    /* One that is waited for comes after those that it depends on. */
#pragma omp target nowait map(tofrom : b) depend(out : b)
    b *= 2;
#pragma omp target map(tofrom : b) depend(inout : b)
    b++;
    CHECK(b == 25);
#pragma omp target nowait map(tofrom : a)
    a = 7;
#pragma omp barrier
    CHECK(a == 7);
  }
}

/* A parallel region ends while such a region is under way. */
static void around_parallel_regions(void)
{
  enum { ROUNDS = 200 };
  int sum = 0, value = 0;
  for (int round = 0; round < ROUNDS; round++) {
#pragma omp target nowait map(tofrom : value) depend(inout : value)
    value++;
#pragma omp parallel num_threads(4) reduction(+ : sum)
    sum += omp_get_thread_num();
  }
#pragma omp taskwait
  CHECK(value == ROUNDS && sum == 6 * ROUNDS);
}

int main(void)
{
  alone();
  in_order();
  at_the_same_time(0);
  at_the_same_time(1);
  waited_for();
  around_parallel_regions();
  for (int round = 0; round < 3; round++) {
#pragma omp parallel num_threads(4)
    {
#pragma omp single nowait
      alone();
#pragma omp single
      in_order();
    }
#pragma omp parallel num_threads(4)
    in_order();
#pragma omp parallel num_threads(2)
#pragma omp single
    {
      at_the_same_time(0);
      at_the_same_time(1);
    }
#pragma omp parallel num_threads(2)
#pragma omp single
#pragma omp task final(1)
    in_order();
  }
#pragma omp taskgroup
  alone();
  puts("passed");
}
