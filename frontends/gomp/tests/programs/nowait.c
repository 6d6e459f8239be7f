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

/* The host goes on while a region runs that waits for it. It copies nothing back: from memory
   that is not pinned, CUDA's drivers make the host wait for that. */
static void at_the_same_time(void)
{
  int device = omp_get_default_device(), host = omp_get_initial_device(), words[2] = {0, 0}, one = 1;
  int *flag = omp_target_alloc(sizeof words, device);
  CHECK(omp_target_memcpy(flag, words, sizeof words, 0, 0, device, host) == 0);
#pragma omp target nowait is_device_ptr(flag)
  {
    int value;
    do
#pragma omp atomic read
      value = *flag;
    while (value == 0);
    flag[1] = 1;
  }
  CHECK(omp_target_memcpy(flag, &one, sizeof one, 0, 0, device, host) == 0);
#pragma omp taskwait
  CHECK(omp_target_memcpy(words, flag, sizeof words, 0, 0, host, device) == 0 && words[1] == 1);
  omp_target_free(flag, device);
}

int main(void)
{
  alone();
  in_order();
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
    at_the_same_time();
#pragma omp parallel num_threads(2)
#pragma omp single
#pragma omp task final(1)
    in_order();
  }
#pragma omp taskgroup
  alone();
  puts("passed");
}
