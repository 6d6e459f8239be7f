// with: openmp
// Two regions that exclude each other, in whatever order, add to the same array.
#include <stdio.h>

int a[4000];

int main(void)
{
    int x = 0;
#pragma omp target data map(tofrom: a)
    {
#ifdef WRONG
#pragma omp target nowait depend(inoutset: x)
#else
#pragma omp target nowait depend(mutexinoutset: x)
#endif
        for (int i = 0; i < 4000; i++) a[i] += i; // finds
#ifdef WRONG
#pragma omp target nowait depend(inoutset: x)
#else
#pragma omp target nowait depend(mutexinoutset: x)
#endif
        for (int i = 0; i < 4000; i++) a[i] += 1; // finds
#pragma omp taskwait
    }
    printf("%d\n", a[3999]);
    return a[3999] != 4000;
}
