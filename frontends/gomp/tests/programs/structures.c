/* Structures, of which parts are mapped, and their pointers. */
#include "check.h"
#include <omp.h>
#include <string.h>

struct node {
  char tag[3];
  int count;
  double *values;
  struct node *next;
  int last;
};

static void members(void)
{
  struct node node = {"ab", 1, NULL, NULL, 4};
#pragma omp target map(tofrom : node.count, node.last)
  node.count += 10, node.last += 20;
  CHECK(node.count == 11 && node.last == 24 && node.values == NULL);
#pragma omp target enter data map(to : node.count) map(to : node.last)
  node.count = 0;
#pragma omp target map(tofrom : node.count)
  node.count += 5;
  CHECK(node.count == 0);
#pragma omp target exit data map(from : node.count) map(release : node.last)
  CHECK(node.count == 16 && !omp_target_is_present(&node.count, omp_get_default_device()));
}

static void pointers(int length)
{
  double values[64], others[64];
  for (int i = 0; i < 64; i++)
    values[i] = i, others[i] = -i;
  struct node node = {"ab", length, values, NULL, 0};
#pragma omp target map(tofrom : node, node.values[0 : length])
  for (int i = 0; i < node.count; i++)
    node.values[i] *= 2;
  CHECK(node.values == values && values[length - 1] == 2 * (length - 1) && values[length] == length);

#pragma omp target enter data map(to : node) map(to : node.values[0 : length])
#pragma omp target
  node.values[1] = 100;
#pragma omp target update from(node.values[1 : 1])
  CHECK(values[1] == 100 && node.values == values);
#pragma omp target exit data map(release : node.values[0 : length]) map(release : node)

  node.values = others;
#pragma omp target map(to : node) map(tofrom : node.values[2 : 2])
  node.values[2] = 1, node.values[3] = 2;
  CHECK(others[2] == 1 && others[3] == 2 && others[4] == -4);
}

static void lists(void)
{
  struct node second = {"b", 2, NULL, NULL, 0}, first = {"a", 1, NULL, &second, 0};
#pragma omp target map(to : first) map(tofrom : first.next[0 : 1])
  first.next->count += first.count + (strlen(first.tag) == 1);
  CHECK(second.count == 4 && first.next == &second);
}

int main(void)
{
  for (int round = 0; round < 3; round++) {
    members();
    pointers(32);
    pointers(5);
    lists();
  }
  puts("passed");
}
