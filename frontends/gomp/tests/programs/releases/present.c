/* Since GCC 14: data that has to be there. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#define CHECK(what) do { if (!(what)) { printf("%d: %s\n", __LINE__, #what); return 1; } } while (0)
#define DONE do { puts("passed"); return 0; } while (0)

int main(void)
{
    int a[8] = {0, 1, 2, 3, 4, 5, 6, 7}, sum = 0;
    #pragma omp target enter data map(to: a)
    a[7] = 70;
    #pragma omp target map(present, tofrom: a) map(from: sum)
    sum = a[7] + (a[0] = 100);
    CHECK(sum == 107 && a[0] == 0);
    #pragma omp target update to(present: a)
    #pragma omp target map(present, alloc: a) map(from: sum)
    sum = a[7];
    CHECK(sum == 70);
    #pragma omp target map(always, present, tofrom: a)
    a[1] = 11;
    CHECK(a[1] == 11);
    #pragma omp target update from(present: a)
    #pragma omp target exit data map(delete: a)
    DONE;
}
