// covers: implicit maps: scalars are firstprivate, aggregates tofrom, pointers zero-length sections
#include <stdio.h>
#include <stdlib.h>

struct pair {
  int x;
  double y;
};

int main(void) {
  int scalar = 4;
  float real = 0.5f;
  int array[5] = {1, 2, 3, 4, 5};
  struct pair pair = {7, 1.5};
  int *heap = malloc(5 * sizeof *heap);
  for (int i = 0; i < 5; i++) heap[i] = 10 * i;

#pragma omp target data map(tofrom : heap[0 : 5])
  {
#pragma omp target
    {
      for (int i = 0; i < 5; i++) {
        array[i] *= scalar;
        heap[i] += array[i];
      }
      pair.x += scalar;
      pair.y += real;
      scalar = -1;
      real = -1;
    }
  }
  printf("%d %g %d %g\n", scalar, real, pair.x, pair.y);
  for (int i = 0; i < 5; i++) printf("%d %d\n", array[i], heap[i]);

  int null_seen = 0;
  int *nowhere = NULL;
#pragma omp target map(from : null_seen)
  null_seen = nowhere == NULL;
  printf("null pointer stays null: %d\n", null_seen);
  free(heap);
  return 0;
}
