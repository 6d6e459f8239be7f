/* Since GCC 13: one callback for each call, with data both ways. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#define CHECK(what) do { if (!(what)) { printf("%d: %s\n", __LINE__, #what); return 1; } } while (0)
#define DONE do { puts("passed"); return 0; } while (0)

#pragma omp requires reverse_offload

int main(void)
{
    int a[10], sum = 0, calls = 0, on_device = 0;
    for (int i = 0; i < 10; i++)
        a[i] = i;
    #pragma omp target map(tofrom: a, sum, calls, on_device)
    {
        on_device = !omp_is_initial_device();
        for (int i = 0; i < 10; i++)
            a[i] *= 2;
        for (int k = 0; k < 3; k++) {
            #pragma omp target device(ancestor: 1) map(always, tofrom: a, sum, calls)
            {
                for (int i = 0; i < 10; i++)
                    sum += a[i]++;
                calls++;
            }
        }
        sum += 1000;
    }
    CHECK(on_device && calls == 3 && sum == 1000 + 90 + 100 + 110 && a[9] == 21);
    DONE;
}
