/* Since GCC 16: fills of device memory. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#define CHECK(what) do { if (!(what)) { printf("%d: %s\n", __LINE__, #what); return 1; } } while (0)
#define DONE do { puts("passed"); return 0; } while (0)

int main(void)
{
    int device = omp_get_default_device(), host = omp_get_initial_device();
    unsigned char *there = omp_target_alloc(100, device), here[100] = {0};
    CHECK(omp_target_memset(there, 0x5a, 100, device) == there);
    CHECK(omp_target_memset(there + 10, 7, 5, device) == there + 10);
    CHECK(omp_target_memcpy(here, there, 100, 0, 0, host, device) == 0);
    CHECK(here[0] == 0x5a && here[9] == 0x5a && here[10] == 7 && here[14] == 7 && here[15] == 0x5a);
    omp_target_memset(here, 1, 3, host);
    CHECK(here[2] == 1 && here[3] == 0x5a);
    #pragma omp parallel num_threads(2)
    #pragma omp single
    {
        omp_depend_t object;
        #pragma omp depobj(object) depend(inout: there)
        omp_target_memset_async(there, 9, 100, device, 1, &object);
        omp_target_memcpy_async(here, there, 100, 0, 0, host, device, 1, &object);
        #pragma omp taskwait
    }
    CHECK(here[0] == 9 && here[99] == 9);
    omp_target_free(there, device);
    DONE;
}
