/* Since GCC 13: copies that are tasks with dependences. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#define CHECK(what) do { if (!(what)) { printf("%d: %s\n", __LINE__, #what); return 1; } } while (0)
#define DONE do { puts("passed"); return 0; } while (0)

int main(void)
{
    int device = omp_get_default_device(), host = omp_get_initial_device(), wrong = 0;
    int from[100], to[100] = {0};
    for (int i = 0; i < 100; i++)
        from[i] = i * 3;
    int *there = omp_target_alloc(sizeof from, device);
    #pragma omp parallel num_threads(2)
    #pragma omp single
    {
        omp_depend_t object;
        #pragma omp depobj(object) depend(inout: there)
        wrong += omp_target_memcpy_async(there, from, sizeof from, 0, 0, device, host, 1, &object) != 0;
        #pragma omp target is_device_ptr(there) depend(inout: there) nowait
        for (int i = 0; i < 100; i++)
            there[i] += 1;
        wrong += omp_target_memcpy_async(to, there, sizeof to, 0, 0, host, device, 1, &object) != 0;
        #pragma omp taskwait
        for (int i = 0; i < 100; i++)
            wrong += to[i] != i * 3 + 1;
        #pragma omp depobj(object) destroy
    }
    CHECK(!wrong);
    CHECK(omp_target_memcpy_async(there, from, 8, 0, 0, device, host, 0, NULL) == 0);
    omp_target_free(there, device);
    DONE;
}
