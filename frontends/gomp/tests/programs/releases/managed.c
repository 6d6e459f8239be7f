/* Since GCC 16: memory that both sides see. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#define CHECK(what) do { if (!(what)) { printf("%d: %s\n", __LINE__, #what); return 1; } } while (0)
#define DONE do { puts("passed"); return 0; } while (0)

int main(void)
{
    int *both = omp_alloc(10 * sizeof(int), ompx_gnu_managed_mem_alloc), sum = 0;
    CHECK(both);
    for (int i = 0; i < 10; i++)
        both[i] = i;
    #pragma omp target is_device_ptr(both) map(tofrom: sum)
    for (int i = 0; i < 10; i++)
        sum += both[i]++;
    CHECK(sum == 45 && both[9] == 10);
    omp_free(both, ompx_gnu_managed_mem_alloc);
    DONE;
}
