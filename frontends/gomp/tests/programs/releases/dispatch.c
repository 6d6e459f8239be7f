/* Since GCC 15: a variant with device pointers and an object. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#define CHECK(what) do { if (!(what)) { printf("%d: %s\n", __LINE__, #what); return 1; } } while (0)
#define DONE do { puts("passed"); return 0; } while (0)

int on_device(int *p, int n, omp_interop_t object)
{
    int sum = 0, device = omp_get_interop_int(object, omp_ipr_device_num, NULL);
    #pragma omp target is_device_ptr(p) map(tofrom: sum) device(device)
    for (int i = 0; i < n; i++)
        sum += p[i];
    return sum + 1000;
}
#pragma omp declare variant(on_device) match(construct={dispatch}) adjust_args(need_device_ptr: p) \
    append_args(interop(targetsync))
int base(int *p, int n) { return p[0] + n; }

int main(void)
{
    int a[5] = {1, 2, 3, 4, 5}, got = 0;
    #pragma omp target data map(to: a)
    {
        #pragma omp dispatch
        got = base(a, 5);
    }
    CHECK(got == 1015);
    CHECK(base(a, 5) == 6);
    DONE;
}
