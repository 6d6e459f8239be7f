/* Data: structured and dynamic references, updates, attachments, addresses, declarations. */
#include "../check.h"
#include <openacc.h>
#include <string.h>

enum { N = 256 };

/* Adds to what is on the device. */
static void add(int *a, int what)
{
#pragma acc parallel loop present(a[0:N])
  for (int i = 0; i < N; ++i)
    a[i] += what;
}

static void fill(int *a, int value)
{
  for (int i = 0; i < N; ++i)
    a[i] = value;
}

static int all(const int *a, int value)
{
  for (int i = 0; i < N; ++i)
    if (a[i] != value)
      return 0;
  return 1;
}

static void structured(void)
{
  int a[N];
  fill(a, 1);
#pragma acc data copy(a)
  {
    add(a, 1);
    CHECK(all(a, 1));
#pragma acc update self(a)
    CHECK(all(a, 2));
    fill(a, 10);
#pragma acc update device(a[0:N / 2])
    add(a, 1);
#pragma acc data copyin(a)
    add(a, 1);
  }
  for (int i = 0; i < N; ++i)
    CHECK(a[i] == (i < N / 2 ? 12 : 4));
  CHECK(!acc_is_present(a, sizeof a));
}

static void dynamic(void)
{
  int a[N];
  fill(a, 1);
#pragma acc enter data copyin(a)
#pragma acc enter data copyin(a)
  add(a, 1);
#pragma acc exit data copyout(a)
  CHECK(all(a, 1) && acc_is_present(a, sizeof a));
#pragma acc exit data copyout(a)
  CHECK(all(a, 2) && !acc_is_present(a, sizeof a));
  /* Nothing of it is there: nothing happens. */
#pragma acc exit data delete(a)
  CHECK(acc_copyin(a, sizeof a) == acc_deviceptr(a));
  acc_copyin(a, sizeof a);
  add(a, 1);
  acc_copyout_finalize(a, sizeof a);
  CHECK(all(a, 3) && !acc_is_present(a, sizeof a));
  /* A dynamic reference outlives a structured one, and the other way round. */
#pragma acc data copy(a)
  {
    acc_copyin(a, sizeof a);
    add(a, 1);
    acc_delete_finalize(a, sizeof a);
    CHECK(acc_is_present(a, sizeof a));
    acc_create(a, sizeof a);
  }
  CHECK(all(a, 3) && acc_is_present(a, sizeof a));
  add(a, 1);
  acc_copyout(a, sizeof a);
  CHECK(all(a, 5));
}

struct list {
  int count;
  int *items;
};

static void attachments(void)
{
  int items[N];
  struct list list = {N, items};
  fill(items, 1);
#pragma acc enter data copyin(list)
#pragma acc enter data copyin(list.items[0:N])
#pragma acc parallel loop present(list)
  for (int i = 0; i < N; ++i)
    list.items[i] += list.count;
#pragma acc exit data copyout(list.items[0:N])
#pragma acc exit data copyout(list)
  CHECK(all(items, 1 + N) && list.items == items);

  acc_copyin(&list, sizeof list);
  acc_copyin(items, sizeof items);
  acc_attach((void **)&list.items);
#pragma acc parallel loop present(list)
  for (int i = 0; i < N; ++i)
    list.items[i] += 1;
  acc_detach((void **)&list.items);
  acc_copyout(items, sizeof items);
  acc_copyout(&list, sizeof list);
  CHECK(all(items, 2 + N) && list.items == items);
}

static void addresses(void)
{
  int a[N], *there = NULL;
  fill(a, 7);
  int *mine = acc_malloc(sizeof a);
  CHECK(mine);
  acc_memcpy_to_device(mine, a, sizeof a);
  fill(a, 0);
  acc_map_data(a, mine, sizeof a);
  CHECK(acc_deviceptr(a) == mine && acc_hostptr(mine + 3) == a + 3);
  add(a, 1);
#pragma acc host_data use_device(a)
  there = a;
  CHECK(there == mine);
#pragma acc parallel loop deviceptr(there)
  for (int i = 0; i < N; ++i)
    there[i] += 1;
  acc_unmap_data(a);
  CHECK(!acc_is_present(a, sizeof a));
  acc_memcpy_from_device(a, mine, sizeof a);
  acc_free(mine);
  CHECK(all(a, 9));
}

static int table[N];
#pragma acc declare create(table)

/* GCC 12 leaves updates of such variables out. */
static void declared(void)
{
  int out[N];
  CHECK(acc_is_present(table, sizeof table));
#pragma acc parallel loop present(table)
  for (int i = 0; i < N; ++i)
    table[i] = 3;
  int *there = acc_deviceptr(table);
  CHECK(there);
#pragma acc parallel loop deviceptr(there) copyout(out)
  for (int i = 0; i < N; ++i)
    out[i] = there[i] + 1;
  CHECK(all(out, 4));
}

/* An optional copy: what is not there stays on the host. */
static void no_create(void)
{
  int a[N], found = 0;
  fill(a, 5);
#pragma acc data no_create(a)
  found = acc_is_present(a, sizeof a);
  CHECK(!found);
#pragma acc data copyin(a)
#pragma acc data no_create(a)
  add(a, 1);
  CHECK(all(a, 5));
}

int main(void)
{
  structured();
  dynamic();
  attachments();
  addresses();
  declared();
  no_create();
  puts("passed");
  return 0;
}
