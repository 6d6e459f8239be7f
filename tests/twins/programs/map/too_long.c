// A section that ends behind the memory of the program.
// with: openmp gcc
#include <stdio.h>
#include <sys/mman.h>

#ifdef WRONG
#define LENGTH 2 * n
#else
#define LENGTH n
#endif

int main(void)
{
  int n = 8192;
  // Nothing is behind it: the other half is given back.
  char *all = mmap(0, 2 * n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  munmap(all + n, n);
  for (int i = 0; i < n; i++)
    all[i] = i;
#pragma omp target map(tofrom: all[0:LENGTH]) // finds: more is mapped than the program has
  for (int i = 0; i < n; i++)
    all[i]++;
  printf("%d\n", all[7]);
  return 0;
}
