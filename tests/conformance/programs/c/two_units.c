// covers: device code in two translation units: shared globals and functions, statics of the same name
// unit: second_unit.c
#include <stdio.h>

#pragma omp begin declare target
extern int shared_counter;
int second_add(int x);
static int hidden = 1;
#pragma omp end declare target
int second_region(int x);

int main(void) {
  int out = 0;
#pragma omp target map(from : out)
  {
    hidden += 10;
    shared_counter += 100;
    out = second_add(hidden);
  }
  printf("%d\n", out);
  printf("%d\n", second_region(5));
#pragma omp target update from(shared_counter)
  printf("%d\n", shared_counter);
  return 0;
}
