// covers: LIBOMPTARGET_TREAT_ATTACH_AUTO_AS_ALWAYS: pointers are attached though nothing is new
// env: LIBOMPTARGET_TREAT_ATTACH_AUTO_AS_ALWAYS=yes
#include <stdio.h>

struct list {
  int *items;
};

static int seen(struct list *list) {
  int value = 0;
#pragma omp target map(alloc : list[0 : 1]) map(from : value)
  value = list->items[1];
  return value;
}

int main(void) {
  int first[4] = {1, 11, 3, 4}, second[4] = {5, 22, 7, 8};
  struct list list = {first};
#pragma omp target enter data map(to : list, first, second)
  first[1] = second[1] = -1;
  /* All of it is present: only the variable has the pointer attached. */
#pragma omp target enter data map(alloc : list.items[0 : 4])
  printf("%d\n", seen(&list));
  list.items = second;
#pragma omp target enter data map(alloc : list.items[0 : 4])
  printf("%d\n", seen(&list));
#pragma omp target exit data map(delete : list, first, second)
  return 0;
}
