// with: openmp gcc
// A variable of the device's image is updated, and a region uses it.
#include <stdio.h>

#pragma omp declare target
int table[2000];
#pragma omp end declare target

int main(void)
{
    int b[2000], x = 0;
    for (int i = 0; i < 2000; i++) table[i] = i;
#pragma omp target data map(from: b)
    {
#pragma omp target update to(table) nowait depend(out: x)
#ifdef WRONG
#pragma omp target nowait
#else
#pragma omp target nowait depend(in: x)
#endif
        for (int i = 0; i < 2000; i++) b[i] = table[i] + 1; // finds
#pragma omp taskwait
    }
    printf("%d\n", b[1999]);
    return 0;
}
