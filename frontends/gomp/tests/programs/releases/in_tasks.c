/* Since GCC 14: regions in tasks of parallel regions that begin before the first one. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#define CHECK(what) do { if (!(what)) { printf("%d: %s\n", __LINE__, #what); return 1; } } while (0)
#define DONE do { puts("passed"); return 0; } while (0)

int main(void)
{
    int total = 0;
    #pragma omp parallel num_threads(3)
    {
        #pragma omp task shared(total)
        {
            int mine = 0;
            #pragma omp target map(tofrom: mine)
            mine = 1 + !omp_is_initial_device();
            #pragma omp atomic
            total += mine;
        }
    }
    CHECK(total == 6 && omp_get_default_device() == 0);
    DONE;
}
