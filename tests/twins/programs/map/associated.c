// with: openmp
// Memory that the program has associated: only `update` copies.
#include <omp.h>
#include <stdio.h>

int a[4000];

int main(void)
{
    int device = omp_get_default_device();
    int *p = omp_target_alloc(sizeof a, device);
    omp_target_associate_ptr(a, p, sizeof a, 0, device);
    for (int i = 0; i < 4000; i++) a[i] = i;
#pragma omp target update to(a)
#pragma omp target map(tofrom: a)
    for (int i = 0; i < 4000; i++) a[i] += 1;
#ifndef WRONG
#pragma omp target update from(a)
#endif
    printf("%d\n", a[2000]); // finds
    omp_target_disassociate_ptr(a, device);
    omp_target_free(p, device);
    return 0;
}
