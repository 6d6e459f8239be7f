/* Since GCC 13: sections and pointers in a region for the host. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#define CHECK(what) do { if (!(what)) { printf("%d: %s\n", __LINE__, #what); return 1; } } while (0)
#define DONE do { puts("passed"); return 0; } while (0)

#pragma omp requires reverse_offload

struct list { int n; int *values; };

int main(void)
{
    int values[8] = {1, 2, 3, 4, 5, 6, 7, 8}, total = 0;
    struct list list = {8, values};
    #pragma omp target map(to: list) map(tofrom: list.values[0:8], total)
    {
        int *section = list.values + 2;
        #pragma omp target device(ancestor: 1) map(always, tofrom: section[0:4]) map(always, tofrom: total)
        for (int i = 0; i < 4; i++) {
            total += section[i];
            section[i] *= 10;
        }
        total += list.values[2];
    }
    CHECK(total == 3 + 4 + 5 + 6 + 30 && values[2] == 30 && values[5] == 60 && values[6] == 7);
    DONE;
}
