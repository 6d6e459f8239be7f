// The main thread of a region takes a lock that it has, behind a parallel region: nobody can give it up.
// with: openmp
// options: -O0 -g
#include <omp.h>
#include <stdio.h>

int main(void)
{
  int sum = 0;
#pragma omp target map(tofrom: sum)
  {
    omp_lock_t lock;
    omp_init_lock(&lock);
#pragma omp parallel num_threads(2)
    {
#pragma omp atomic
      sum++;
    }
    omp_set_lock(&lock);
#ifdef WRONG
    omp_set_lock(&lock); // finds
#endif
    sum++;
    omp_unset_lock(&lock);
    omp_destroy_lock(&lock);
  }
  printf("%d\n", sum);
  return 0;
}
