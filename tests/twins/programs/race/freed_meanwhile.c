// with: openmp gcc
// The region is still working when its memory is freed.
#include <omp.h>
#include <stdio.h>

int main(void)
{
    int n = 4000, device = omp_get_default_device(), x = 1;
    double *a = omp_target_alloc(n * sizeof *a, device);
#pragma omp target nowait is_device_ptr(a) depend(out: x)
    for (int i = 0; i < n; i++) a[i] = i; // finds
#ifndef WRONG
#pragma omp taskwait
#endif
    omp_target_free(a, device); // finds
#pragma omp taskwait
    printf("done\n");
    return 0;
}
