/* Since GCC 16: user-defined mappers. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#define CHECK(what) do { if (!(what)) { printf("%d: %s\n", __LINE__, #what); return 1; } } while (0)
#define DONE do { puts("passed"); return 0; } while (0)

struct vector { int n; double *values; };
#pragma omp declare mapper(struct vector v) map(v, v.values[0:v.n])

int main(void)
{
    double values[6] = {1, 2, 3, 4, 5, 6}, sum = 0;
    struct vector vector = {6, values};
    #pragma omp target map(tofrom: vector, sum)
    for (int i = 0; i < vector.n; i++)
        sum += vector.values[i] *= 2;
    CHECK(sum == 42 && values[5] == 12);
    DONE;
}
