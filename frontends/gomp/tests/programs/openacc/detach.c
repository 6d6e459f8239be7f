/* Pointers that are detached more often than they are attached. Each argument is one way; without
   any all is as it should be. */
#include "../check.h"
#include <openacc.h>
#include <string.h>

static struct list {
  int count;
  int *items, *others;
} list;

static int items[8], others[8];

static void attach_and_detach(int times, int more)
{
  for (int i = 0; i < times; ++i)
    acc_attach((void **)&list.items);
  for (int i = 0; i < times + more; ++i)
    acc_detach((void **)&list.items);
}

int main(int count, char **arguments)
{
  const char *mistake = count > 1 ? arguments[1] : "";
  list.items = items;
  list.others = others;
#pragma acc enter data copyin(list, items, others)
  if (strcmp(mistake, "never") == 0)
    acc_detach((void **)&list.items);
  attach_and_detach(3, strcmp(mistake, "routine") == 0);
  attach_and_detach(2, 0);
  /* Attached to something else meanwhile, it is to be detached as often. */
  acc_attach((void **)&list.items);
  list.items = others;
  attach_and_detach(1, 1);
  list.items = items;
  /* All at once, and once more. */
  acc_attach((void **)&list.items);
  acc_attach((void **)&list.items);
  acc_detach_finalize((void **)&list.items);
  acc_detach_finalize((void **)&list.items);
  if (strcmp(mistake, "async") == 0) {
    acc_detach_async((void **)&list.items, 1);
    acc_wait(1);
  }
  if (strcmp(mistake, "other") == 0)
    acc_detach((void **)&list.others);
#pragma acc enter data attach(list.items)
#pragma acc exit data detach(list.items)
  if (strcmp(mistake, "construct") == 0) {
#pragma acc exit data detach(list.items)
  }
#pragma acc exit data detach(list.items) finalize
  if (strcmp(mistake, "absent") == 0) {
#pragma acc exit data delete(list)
#pragma acc exit data detach(list.items)
  }
#pragma acc parallel loop present(list, items)
  for (int i = 0; i < 8; ++i)
    items[i] = list.count + i;
#pragma acc exit data copyout(items) delete(list, others)
  CHECK(items[7] == 7);
  puts("passed");
  return 0;
}
