/* One region per way to crash. */
#include <omp.h>
#include <stdlib.h>
#include <string.h>

struct node { struct node *next; int value; };
int main(void)
{
  int *p = NULL, n = 0, a[8] = {0};
  struct node list = {&list, 1};
#pragma omp target is_device_ptr(p)
  *p = 1;
#pragma omp target map(alloc : list)
  list.next->value = 2;
#pragma omp target map(tofrom : n)
  n = 100 / n;
#pragma omp target map(tofrom : a)
  __builtin_trap();
#pragma omp target is_device_ptr(p)
#pragma omp parallel num_threads(2)
  if (omp_get_thread_num() == 1)
    p[1] = 1;
#pragma omp target is_device_ptr(p)
  memset(p, 1, 1000000);
  return 0;
}

/* At the end, so that the regions keep their lines. */
int table[4];
#pragma omp declare target(table)
