/* Since GCC 13: the default device may be the host. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#define CHECK(what) do { if (!(what)) { printf("%d: %s\n", __LINE__, #what); return 1; } } while (0)
#define DONE do { puts("passed"); return 0; } while (0)

int main(void)
{
    int on = -1, a[4] = {1, 2, 3, 4};
    omp_set_default_device(omp_initial_device);
    #pragma omp target map(from: on)
    on = !omp_is_initial_device();
    CHECK(on == 0);
    #pragma omp target data map(tofrom: a)
    {
        #pragma omp target nowait depend(out: a)
        a[0] = 10;
        #pragma omp taskwait
        #pragma omp target update from(a)
    }
    CHECK(a[0] == 10 && omp_get_default_device() == omp_initial_device);
    omp_set_default_device(0);
    #pragma omp target map(from: on)
    on = !omp_is_initial_device();
    CHECK(on == 1);
    DONE;
}
