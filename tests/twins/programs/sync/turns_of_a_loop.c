// with: openmp
// A barrier in a loop whose number of turns is the same for all threads, or is not.
#include <omp.h>
#include <stdio.h>

int main(void)
{
    int a[64] = { 0 };
#pragma omp target parallel num_threads(64) map(tofrom: a)
    {
        int t = omp_get_thread_num();
#ifdef WRONG
        int turns = t < 40 ? 4 : 5;
#else
        int turns = 5;
#endif
        for (int turn = 0; turn < turns; turn++) {
            a[t] += turn;
#pragma omp barrier
        }
#pragma omp for nowait
        for (int i = 0; i < 64; i++) a[i] += 1;
    }
    printf("%d\n", a[0]);
    return 0;
}
