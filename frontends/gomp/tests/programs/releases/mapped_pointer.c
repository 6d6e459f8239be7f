/* Since GCC 13: where a variable is on the device. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#define CHECK(what) do { if (!(what)) { printf("%d: %s\n", __LINE__, #what); return 1; } } while (0)
#define DONE do { puts("passed"); return 0; } while (0)

int main(void)
{
    int a[4] = {1, 2, 3, 4}, device = omp_get_default_device(), host = omp_get_initial_device();
    CHECK(omp_get_mapped_ptr(a, device) == NULL && omp_get_mapped_ptr(a, host) == a);
    #pragma omp target enter data map(to: a)
    int *there = omp_get_mapped_ptr(&a[1], device);
    CHECK(there && there != &a[1]);
    int got = 0;
    #pragma omp target is_device_ptr(there) map(from: got)
    got = there[1];
    CHECK(got == 3);
    CHECK(omp_target_is_accessible(a, sizeof a, host));
    int *own = omp_target_alloc(64, device);
    CHECK(omp_target_is_accessible(own, 64, device));
    omp_target_free(own, device);
    #pragma omp target exit data map(delete: a)
    CHECK(omp_get_mapped_ptr(a, device) == NULL);
    DONE;
}
