/* Since GCC 13: omp_initial_device in constructs and routines. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#define CHECK(what) do { if (!(what)) { printf("%d: %s\n", __LINE__, #what); return 1; } } while (0)
#define DONE do { puts("passed"); return 0; } while (0)

int main(void)
{
    int on = 1;
    #pragma omp target device(omp_initial_device) map(from: on)
    on = !omp_is_initial_device();
    CHECK(!on);
    int *mine = omp_target_alloc(8, omp_initial_device);
    CHECK(mine);
    mine[1] = 4;
    omp_target_free(mine, omp_initial_device);
    DONE;
}
