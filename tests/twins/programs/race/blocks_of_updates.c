// Blocks are sent, computed and fetched in queues of their own; the program waits before it reads, or reads at once.
// with: openacc
// options: -O1 -g --check=race
#include <stdio.h>

enum { N = 8000, BLOCK = 2000 };
static int in[N], out[N];

int main(void)
{
  long sum = 0;
  for (int i = 0; i < N; ++i)
    in[i] = i;
#pragma acc data create(in, out)
  {
    for (int first = 0; first < N; first += BLOCK) {
      int queue = first / BLOCK % 2 + 1;
#pragma acc update device(in[first:BLOCK]) async(queue)
#pragma acc parallel loop present(in, out) async(queue)
      for (int i = first; i < first + BLOCK; ++i)
        out[i] = 2 * in[i];
#pragma acc update self(out[first:BLOCK]) async(queue) // finds
    }
#ifdef WRONG
#pragma acc wait(1)
#else
#pragma acc wait(1, 2)
#endif
    for (int i = 0; i < N; ++i)
      sum += out[i]; // finds
#pragma acc wait
  }
  printf("%ld\n", sum);
  return 0;
}
