// with: openmp gcc
// The barrier behind `single` waits for the regions that were begun there.
#include <stdio.h>

int a[4000];

int main(void)
{
#pragma omp target enter data map(to: a)
#pragma omp parallel num_threads(2)
    {
#ifdef WRONG
#pragma omp single nowait
#else
#pragma omp single
#endif
        {
#pragma omp target nowait
            for (int i = 0; i < 4000; i++) a[i] += i; // finds
        }
#pragma omp masked
        {
#pragma omp target
            for (int i = 0; i < 4000; i++) a[i] += 1; // finds
        }
    }
#pragma omp target exit data map(from: a)
    printf("%d\n", a[3999]);
    return 0;
}
