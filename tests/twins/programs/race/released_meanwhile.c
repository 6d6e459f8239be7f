// with: openacc gcc-openacc
// The queue is still working when its memory is freed.
#include <openacc.h>
#include <stdio.h>

int main(void)
{
    int n = 4000;
    double *a = acc_malloc(n * sizeof *a);
#pragma acc parallel loop deviceptr(a) async(1)
    for (int i = 0; i < n; i++) a[i] = i; // finds
#ifndef WRONG
#pragma acc wait(1)
#endif
    acc_free(a);
#pragma acc wait
    printf("done\n");
    return 0;
}
