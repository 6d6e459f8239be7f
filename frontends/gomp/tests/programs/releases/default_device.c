/* Since GCC 16: the number that stands for the default device. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#define CHECK(what) do { if (!(what)) { printf("%d: %s\n", __LINE__, #what); return 1; } } while (0)
#define DONE do { puts("passed"); return 0; } while (0)

int main(void)
{
    int on = 0, a = 1;
    #pragma omp target device(omp_default_device) map(from: on)
    on = !omp_is_initial_device();
    CHECK(on);
    #pragma omp target enter data map(to: a) device(omp_default_device)
    CHECK(omp_target_is_present(&a, omp_default_device) && omp_target_is_present(&a, 0));
    #pragma omp target exit data map(delete: a) device(omp_default_device)
    int *there = omp_target_alloc(16, omp_default_device), x = 3, y = 0;
    CHECK(omp_target_memcpy(there, &x, sizeof x, 0, 0, omp_default_device, omp_initial_device) == 0);
    CHECK(omp_target_memcpy(&y, there, sizeof y, 0, 0, omp_initial_device, omp_default_device) == 0 && y == 3);
    omp_target_free(there, omp_default_device);
    #pragma omp target device(omp_initial_device) map(from: on)
    on = !omp_is_initial_device();
    CHECK(!on);
    DONE;
}
