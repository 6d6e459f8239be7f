// with: openmp
// Bit-fields that the host changes between regions.
#include <stdio.h>

struct state { unsigned step: 6, mode: 3, done: 1; int value; } s;

int main(void)
{
#pragma omp target data map(to: s)
    for (int step = 0; step < 3; step++) {
        s.step = step;
        s.mode = step + 1;
#ifndef WRONG
#pragma omp target update to(s)
#endif
#pragma omp target
        {
            s.value += s.step * s.mode; // finds
            s.done = s.step == 2;
        }
#pragma omp target update from(s)
    }
    printf("%d %d\n", s.value, s.done);
    return 0;
}
