// with: openmp
// `taskwait` waits for children, and not for what these have begun.
#include <stdio.h>
#include <omp.h>

int a[4000];

int main(void)
{
#pragma omp target enter data map(to: a)
#pragma omp parallel num_threads(2)
#pragma omp single
    {
#ifdef WRONG
#pragma omp task
        {
#pragma omp target nowait
            for (int i = 0; i < 4000; i++) a[i] += i; // finds
        }
#pragma omp taskwait
#else
#pragma omp taskgroup
        {
#pragma omp task
            {
#pragma omp target nowait
                for (int i = 0; i < 4000; i++) a[i] += i;
            }
        }
#endif
#pragma omp target
        for (int i = 0; i < 4000; i++) a[i] += 1; // finds
    }
#pragma omp target exit data map(from: a)
    printf("%d\n", a[3999]);
    return a[3999] != 4000;
}
