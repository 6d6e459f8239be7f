// as without OpenACC
// Constructs of several queues use parts of the same data, which no clause names.
#include <stdio.h>
#include <stdlib.h>

enum { BLOCKS = 8, LENGTH = 100, N = BLOCKS * LENGTH };

int main(void) {
  int *list = malloc(N * sizeof *list);
  double *from = malloc(N * sizeof *from), *to = malloc(N * sizeof *to);
  for (int i = 0; i < N; i++) {
    list[i] = -1;
    from[i] = i * 7 % 31;
    to[i] = 0;
  }
  for (int block = 0; block < BLOCKS; block++) {
    int begin = block * LENGTH, end = begin + LENGTH;
#pragma acc parallel loop async(block % 3)
    for (int i = begin; i < end; i++) list[i] = i * i % 1000 + (i > 0 ? (int)from[i - 1] : 0);
#pragma acc parallel loop async(block % 3 + 3)
    for (int i = begin; i < end; i++)
      if (i > 0 && i + 1 < N) to[i] = from[i - 1] + from[i + 1];
  }
#pragma acc wait
  long sum = 0;
  for (int i = 0; i < N; i++) sum = (sum * 31 + list[i] + (long)to[i]) % 1000003;
  printf("%ld\n", sum);
  return 0;
}
