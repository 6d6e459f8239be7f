/* Since GCC 13: taskwait with nowait outside of parallel regions. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#define CHECK(what) do { if (!(what)) { printf("%d: %s\n", __LINE__, #what); return 1; } } while (0)
#define DONE do { puts("passed"); return 0; } while (0)

int main(void)
{
    int *data = calloc(1000, sizeof(int)), seen = 0;
    #pragma omp target map(tofrom: data[0:1000]) depend(out: data[0]) nowait
    for (int i = 0; i < 1000; i++)
        data[i] = i;
    #pragma omp taskwait depend(inout: data[0], seen) nowait
    #pragma omp task depend(in: seen) shared(seen)
    seen = data[999];
    #pragma omp taskwait
    CHECK(seen == 999);
    free(data);
    DONE;
}
