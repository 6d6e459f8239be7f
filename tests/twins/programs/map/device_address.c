// with: openmp gcc
// A routine of the device's writes by the device's address.
#include <omp.h>
#include <stdio.h>

int a[4000], b[4000];

int main(void)
{
    int device = omp_get_default_device(), host = omp_get_initial_device(), *p = a;
    for (int i = 0; i < 4000; i++) b[i] = i;
#pragma omp target data map(tofrom: a)
    {
#pragma omp target data use_device_ptr(p)
        omp_target_memcpy(p, b, sizeof b, 0, 0, device, host);
#ifndef WRONG
#pragma omp target update from(a)
#endif
        printf("%d\n", a[1234]); // finds
    }
    return 0;
}
