// A list that a thread makes of blocks of `malloc`. Wrong: the last has no end.
// with: openmp gcc
#include <stdio.h>
#include <stdlib.h>
typedef struct node {
  int value;
  struct node *next;
} node;
int main(void) {
  int sums[8];
#pragma omp target teams distribute parallel for map(from : sums) thread_limit(8)
  for (int i = 0; i < 8; i++) {
    node *first = 0;
    for (int k = 0; k < 4; k++) {
      node *one = malloc(sizeof *one);
      one->value = i * k;
#ifdef WRONG
      if (k > 0)
#endif
        one->next = first;
      first = one;
    }
    int sum = 0;
    for (int k = 0; k < 5 && first; k++) {
      node *next = first->next; // finds
      sum += first->value;
      free(first);
      first = next;
    }
    sums[i] = sum;
  }
  printf("%d\n", sums[3]);
  return 0;
}
