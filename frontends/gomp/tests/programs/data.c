/* Kinds of list items, on their own and present before. */
#include "check.h"
#include <omp.h>

enum { N = 1000 };

static int total(const int *list, int count)
{
  int sum = 0;
  for (int i = 0; i < count; i++)
    sum += list[i];
  return sum;
}

static void kinds(void)
{
  int to[N], from[N], both[N], inside[N], private = 5;
  double wide[40];
  for (int i = 0; i < N; i++)
    to[i] = both[i] = i, from[i] = -1;
  for (int i = 0; i < 40; i++)
    wide[i] = i;
  double sum = 0;
#pragma omp target map(to : to) map(from : from) map(tofrom : both, sum) map(alloc : inside) \
    firstprivate(private, wide)
  {
    for (int i = 0; i < N; i++) {
      inside[i] = to[i] * private;
      from[i] = inside[i];
      both[i] += 1;
      to[i] = 0;
    }
    private = 7;
    for (int i = 0; i < 40; i++)
      sum += wide[i], wide[i] = 0;
  }
  CHECK(private == 5 && sum == 780 && wide[39] == 39);
  CHECK(total(to, N) == 499500 && total(from, N) == 5 * 499500 && total(both, N) == 499500 + N);
}

static void sections(int count, int first)
{
  int *list = malloc(N * sizeof *list);
  for (int i = 0; i < N; i++)
    list[i] = i;
#pragma omp target map(tofrom : list[first : count])
  for (int i = first; i < first + count; i++)
    list[i] = -list[i];
  CHECK(list[first - 1] == first - 1 && list[first] == -first && list[first + count] == first + count);
  free(list);
}

static void zero_length(void)
{
  int list[10] = {1, 2, 3};
  int *pointer = list, *nothing = NULL;
  int is_null = 0, value = 0, sees_nothing = 0;
  /* A pointer to what is not mapped is null up to libgomp 13, and keeps its value since. */
  int is_kept = 0;
  size_t address = (size_t)list;
#pragma omp target map(pointer[:0], nothing[:0]) map(from : is_null, is_kept, sees_nothing)
  is_null = pointer == NULL, is_kept = (size_t)pointer == address, sees_nothing = nothing == NULL;
  CHECK((is_null || is_kept) && sees_nothing);
#pragma omp target data map(to : list)
#pragma omp target map(pointer[:0]) map(from : is_null, value)
  is_null = pointer == NULL, value = pointer[2];
  CHECK(!is_null && value == 3);
}

static void present(void)
{
  int list[100] = {0}, other = 3;
#pragma omp target enter data map(to : list)
#pragma omp target enter data map(alloc : list)
  list[0] = 9;
#pragma omp target map(tofrom : list)
  list[0] += 1, list[1] = 4;
  CHECK(list[0] == 9 && list[1] == 0);
#pragma omp target map(always, tofrom : list) map(always, to : other)
  list[0] += other;
  CHECK(list[0] == 12 && list[1] == 0);
#pragma omp target update to(list[1 : 2])
#pragma omp target
  list[1] = 6;
#pragma omp target update from(list[1])
  CHECK(list[1] == 6);
#pragma omp target exit data map(release : list)
  CHECK(omp_target_is_present(list, omp_get_default_device()));
#pragma omp target exit data map(delete : list)
  CHECK(!omp_target_is_present(list, omp_get_default_device()));
#pragma omp target exit data map(from : list)
}

static void structured(void)
{
  int list[N], host = omp_get_initial_device(), device = omp_get_default_device();
  for (int i = 0; i < N; i++)
    list[i] = i;
  int *address = list;
#pragma omp target data map(tofrom : list[0 : N])
  {
    CHECK(omp_target_is_present(list, device));
#pragma omp target data use_device_ptr(address)
    {
      int copy[2];
      CHECK(address != list);
      CHECK(omp_target_memcpy(copy, address, sizeof copy, 0, 5 * sizeof *list, host, device) == 0);
      CHECK(copy[0] == 5 && copy[1] == 6);
#pragma omp target is_device_ptr(address)
      address[5] = 50;
    }
    CHECK(address == list && list[5] == 5);
#pragma omp target data map(tofrom : list[0 : N])
    CHECK(list[5] == 5);
  }
  CHECK(list[5] == 50 && !omp_target_is_present(list, device));
}

#pragma omp declare target
static int counter = 3;
int table[4] = {1, 2, 3, 4};
static int twice(int number)
{
  counter++;
  return 2 * number + table[1];
}
#pragma omp end declare target

static void globals(void)
{
  int result = 0;
#pragma omp target map(from : result)
  result = twice(20), table[3] = counter;
  CHECK(result == 42 && counter == 3 && table[3] == 4);
#pragma omp target update from(counter, table)
  CHECK(counter == 4 && table[3] == 4);
  table[1] = 7;
#pragma omp target update to(table)
#pragma omp target map(from : result)
  result = twice(1);
  CHECK(result == 9);
}

int main(void)
{
  int elsewhere = 1;
#pragma omp target map(from : elsewhere)
  elsewhere = !omp_is_initial_device();
  CHECK(elsewhere);
  for (int round = 0; round < 3; round++) {
    kinds();
    sections(100, 50);
    sections(1, 998);
    zero_length();
    present();
    structured();
  }
  globals();
  puts("passed");
}
