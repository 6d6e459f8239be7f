// covers: a mapper applied to a long array section, to a heap section and to its middle
#include <stdio.h>
#include <stdlib.h>

typedef struct {
  char tag;
  int *cell;
} item;

#pragma omp declare mapper(item it) map(it.tag) map(it.cell[0 : 1])

enum { N = 50 };

int main(void) {
  static int cells[N];
  item *list = malloc(N * sizeof *list);
  for (int i = 0; i < N; i++) {
    cells[i] = i;
    list[i].tag = 'a' + i % 26;
    list[i].cell = &cells[i];
  }
#pragma omp target map(tofrom : list[0 : N])
  for (int i = 0; i < N; i++) *list[i].cell += list[i].tag;
  long sum = 0;
  for (int i = 0; i < N; i++) sum += cells[i] * (i + 1L);
  printf("%ld\n", sum);
#pragma omp target map(tofrom : list[10 : 5])
  for (int i = 10; i < 15; i++) {
    *list[i].cell = -i;
    list[i].tag = '#';
  }
  for (int i = 9; i < 16; i++) printf("%d %c\n", cells[i], list[i].tag);
#pragma omp target enter data map(to : list[0 : 3])
#pragma omp target map(alloc : list[0 : 3])
  for (int i = 0; i < 3; i++) *list[i].cell = 7;
#pragma omp target update from(list[1 : 1])
  printf("%d %d\n", cells[0] == 7, cells[1]);
#pragma omp target exit data map(from : list[0 : 3])
  printf("%d %d\n", cells[0], cells[2]);
  free(list);
  return 0;
}
