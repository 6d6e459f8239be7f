/* Since GCC 13: inoutset, and taskwait with nowait. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#define CHECK(what) do { if (!(what)) { printf("%d: %s\n", __LINE__, #what); return 1; } } while (0)
#define DONE do { puts("passed"); return 0; } while (0)

int main(void)
{
    int a = 1, b = 2, c = 0;
    #pragma omp parallel num_threads(2)
    #pragma omp single
    {
        #pragma omp target map(tofrom: a) depend(inoutset: c) nowait
        a += 10;
        #pragma omp target map(tofrom: b) depend(inoutset: c) nowait
        b += 20;
        #pragma omp taskwait depend(inout: c) nowait
        #pragma omp task depend(in: c) shared(a, b, c)
        c = a + b;
        #pragma omp taskwait
    }
    CHECK(c == 33);
    DONE;
}
