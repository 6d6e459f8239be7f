// with: openmp
// The value of one thread for all: the barrier of `single` with `copyprivate`.
#include <omp.h>
#include <stdio.h>

int main(void)
{
    int sum = 0;
#pragma omp target parallel num_threads(64) map(tofrom: sum) reduction(+: sum)
    {
        int v = 0, t = omp_get_thread_num();
#ifdef WRONG
        if (t != 40)
#endif
#pragma omp single copyprivate(v)
        v = 7; // finds
        sum += v + t;
    }
    printf("%d\n", sum);
    return 0;
}
