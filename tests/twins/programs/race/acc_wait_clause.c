// with: openacc gcc-openacc
// A construct waits for another queue before it begins.
#include <openacc.h>
#include <stdio.h>

int a[4000], b[4000];

int main(void)
{
#pragma acc data copy(a) copyout(b)
    {
#pragma acc parallel loop async(1) present(a)
        for (int i = 0; i < 4000; i++) a[i] += i; // finds
#ifdef WRONG
#pragma acc parallel loop async(2) present(a, b)
#else
#pragma acc parallel loop async(2) wait(1) present(a, b)
#endif
        for (int i = 0; i < 4000; i++) b[i] = a[3999 - i]; // finds
        acc_wait_async(2, 3);
#pragma acc parallel loop async(3) present(b)
        for (int i = 0; i < 4000; i++) b[i] += 1;
#pragma acc wait
    }
    printf("%d\n", b[0]);
    return 0;
}
