// with: openmp openacc gcc gcc-openacc
// Each thread takes a place of its own.
#include <stdio.h>

int main(void)
{
    int places[2048], next = 0;
#ifdef _OPENACC
#pragma acc parallel loop copy(next) copyout(places)
#else
#pragma omp target teams distribute parallel for map(tofrom: next) map(from: places)
#endif
    for (int i = 0; i < 2048; i++) {
        int mine;
#ifdef WRONG
        mine = next++; // finds
#elif defined _OPENACC
#pragma acc atomic capture
        mine = next++;
#else
#pragma omp atomic capture
        mine = next++;
#endif
        places[mine & 2047] = i;
    }
    printf("%d\n", next);
    return 0;
}
