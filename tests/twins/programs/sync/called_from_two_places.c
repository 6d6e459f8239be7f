// with: openmp
// One barrier, in a function that threads call from two places.
#include <omp.h>
#include <stdio.h>

int a[64];
#pragma omp declare target to(a)

static void step(int base)
{
    a[base] += 1;
#pragma omp barrier // finds
}

int main(void)
{
#pragma omp target parallel num_threads(64) map(tofrom: a)
    {
        int t = omp_get_thread_num();
        if (t < 32) step(t);
        else step(t);
#ifdef WRONG
        if (t < 32) {
#pragma omp barrier // finds
        } else step(t);
#else
        step(t);
#endif
    }
    printf("done\n");
    return 0;
}
