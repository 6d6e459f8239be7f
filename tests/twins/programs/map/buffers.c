// Two buffers change places. The host fills the one that the device does not use: with an update behind, or without.
// with: openmp gcc
#include <stdio.h>

int main(void)
{
  int buffer[2][512], sum = 0;
#pragma omp target enter data map(alloc : buffer)
  for (int step = 0; step < 4; ++step) {
    int *now = buffer[step % 2];
    for (int i = 0; i < 512; ++i)
      now[i] = i + step;
#ifdef WRONG
    if (step < 2)
#endif
    {
#pragma omp target update to(now[0:512])
    }
#pragma omp target teams distribute parallel for map(tofrom : sum) reduction(+ : sum)
    for (int i = 0; i < 512; ++i)
      sum += now[i]; // finds: a kernel reads
  }
#pragma omp target exit data map(delete : buffer)
  printf("%d\n", sum);
  return 0;
}
