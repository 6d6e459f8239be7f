// with: openmp
// The greatest by an atomic comparison.
#include <stdio.h>

int main(void)
{
    int greatest = 0;
#pragma omp target teams distribute parallel for map(tofrom: greatest)
    for (int i = 0; i < 2048; i++) {
        int v = (i * 37) & 2047;
#ifndef WRONG
#pragma omp atomic compare
#endif
        if (greatest < v) { greatest = v; } // finds
    }
    printf("%d\n", greatest);
    return 0;
}
