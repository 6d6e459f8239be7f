// with: openmp
// The region is still working when its data is deleted.
#include <stdio.h>
#include <stdlib.h>

int main(void)
{
    int n = 4000, x = 1;
    double *a = malloc(n * sizeof *a);
    for (int i = 0; i < n; i++) a[i] = i;
#pragma omp target enter data map(to: a[0:n])
#pragma omp target nowait depend(out: x)
    for (int i = 0; i < n; i++) a[i] += 1; // finds
#ifdef WRONG
#pragma omp target exit data map(delete: a[0:n]) nowait // finds
#else
#pragma omp target exit data map(delete: a[0:n]) nowait depend(in: x)
#endif
#pragma omp taskwait
    free(a);
    printf("done\n");
    return 0;
}
