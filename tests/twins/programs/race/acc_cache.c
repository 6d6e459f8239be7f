// with: openacc gcc-openacc
// `cache` is a hint, and `kernels` and `gang worker vector` order nothing.
#include <stdio.h>

int main(void)
{
    static int a[4096], b[4096];
    for (int i = 0; i < 4096; i++) a[i] = i;
#pragma acc parallel loop gang worker vector copy(a, b)
    for (int i = 1; i < 4095; i++) {
#pragma acc cache(a[i - 1:3])
#ifdef WRONG
        a[i] = a[i - 1] + a[i + 1]; // finds
        b[i] = a[i];
#else
        b[i] = a[i - 1] + a[i] + a[i + 1];
#endif
    }
    printf("%d\n", b[1]);
    return 0;
}
