// with: openmp openacc gcc
// The part of a union that its tag names is set.
#include <stdio.h>

struct value { int tag; union { int i; double d; float f[2]; } u; };

int main(void)
{
    struct value v[256];
    int count = 0;
#ifdef _OPENACC
#pragma acc data create(v) copy(count)
#else
#pragma omp target data map(alloc: v) map(tofrom: count)
#endif
    {
#ifdef _OPENACC
#pragma acc parallel loop present(v)
#else
#pragma omp target teams distribute parallel for
#endif
        for (int i = 0; i < 256; i++) {
            v[i].tag = i % 2;
            if (v[i].tag) v[i].u.d = i;
            else v[i].u.i = i;
        }
#ifdef _OPENACC
#pragma acc parallel loop present(v) reduction(+: count)
#else
#pragma omp target teams distribute parallel for reduction(+: count)
#endif
        for (int i = 0; i < 256; i++) {
            struct value one = v[i];
#ifdef WRONG
            if (one.tag == 0 && one.u.d > 1) count++;
#else
            if (one.tag == 0 && one.u.i > 1) count++;
#endif
            if (one.tag == 1 && one.u.d > 1) count++;
        }
    }
    printf("%d\n", count);
    return 0;
}
