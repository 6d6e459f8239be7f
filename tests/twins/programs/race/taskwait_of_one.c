// with: openmp
// options: -O1 -g --check=race
// The program waits for one of two regions, and reads what that has copied back.
#include <stdio.h>

int main(void)
{
    static int a[4000], b[4000];
    int x = 0, y = 0;
#pragma omp target nowait map(tofrom: a) depend(out: x)
    for (int i = 0; i < 4000; i++) a[i] += i;
#pragma omp target nowait map(tofrom: b) depend(out: y)
    for (int i = 0; i < 4000; i++) b[i] += 2 * i;
#ifdef WRONG
#pragma omp taskwait depend(in: y)
#else
#pragma omp taskwait depend(in: x)
#endif
    int sum = a[3999]; // finds
#pragma omp taskwait
    printf("%d %d\n", sum, b[3999]);
    return 0;
}
