// with: openmp gcc
// Bit-fields of one word are set one after the other.
#include <stdio.h>

struct flags { unsigned kind: 3, level: 5, used: 1, : 4, count: 12; };

int main(void)
{
    struct flags f[300];
    int sum = 0;
#pragma omp target teams distribute parallel for map(alloc: f) reduction(+: sum)
    for (int i = 0; i < 300; i++) {
        struct flags *one = &f[i];
        one->kind = i & 7;
#ifndef WRONG
        one->used = i % 3 == 0;
#endif
        one->count = i;
        if (one->used) sum += one->count;
    }
    printf("%d\n", sum);
    return 0;
}
