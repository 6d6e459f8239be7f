// with: openmp
// A region behind several others, each of which has its part.
#include <stdio.h>

int a[4][1000], b[1000];

int main(void)
{
    int x[4] = { 0 };
#pragma omp target enter data map(to: a, b)
    for (int part = 0; part < 4; part++) {
#pragma omp target nowait depend(out: x[part]) firstprivate(part)
        for (int i = 0; i < 1000; i++) a[part][i] = part + i; // finds
    }
#ifdef WRONG
#pragma omp target nowait depend(iterator(p = 0:3), in: x[p])
#else
#pragma omp target nowait depend(iterator(p = 0:4), in: x[p])
#endif
    for (int i = 0; i < 1000; i++) b[i] = a[0][i] + a[1][i] + a[2][i] + a[3][i]; // finds
#pragma omp taskwait
#pragma omp target exit data map(from: b) map(release: a)
    printf("%d\n", b[999]);
    return 0;
}
