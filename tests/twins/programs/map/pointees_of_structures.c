// with: openmp
// Structures with pointers: arrays that are attached come back one by one.
#include <stdio.h>
#include <stdlib.h>

struct row { int n; double *v; };

int main(void)
{
    struct row rows[4];
    for (int r = 0; r < 4; r++) {
        rows[r] = (struct row){ 1000, malloc(1000 * sizeof(double)) };
        for (int i = 0; i < 1000; i++) rows[r].v[i] = r;
    }
#pragma omp target enter data map(to: rows)
    for (int r = 0; r < 4; r++) {
#pragma omp target enter data map(to: rows[r].v[0:1000])
    }
#pragma omp target map(to: rows)
    for (int r = 0; r < 4; r++)
        for (int i = 0; i < rows[r].n; i++) rows[r].v[i] += i;
#ifdef WRONG
    for (int r = 0; r < 3; r++) {
#else
    for (int r = 0; r < 4; r++) {
#endif
#pragma omp target update from(rows[r].v[0:1000])
    }
    double sum = 0;
    for (int r = 0; r < 4; r++)
        for (int i = 0; i < 1000; i++) sum += rows[r].v[i]; // finds
    for (int r = 0; r < 4; r++) {
#pragma omp target exit data map(release: rows[r].v[0:1000])
        free(rows[r].v);
    }
#pragma omp target exit data map(release: rows)
    printf("%g\n", sum);
    return 0;
}
