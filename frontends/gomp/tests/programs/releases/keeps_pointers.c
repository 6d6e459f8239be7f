/* Since GCC 14: a pointer to what is not mapped keeps its value. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#define CHECK(what) do { if (!(what)) { printf("%d: %s\n", __LINE__, #what); return 1; } } while (0)
#define DONE do { puts("passed"); return 0; } while (0)

int main(void)
{
    int device = omp_get_default_device();
    int *mine = omp_target_alloc(4 * sizeof(int), device), got[4] = {0}, same = 0;
    size_t value = (size_t) mine;
    #pragma omp target map(from: same)
    {
        same = (size_t) mine == value;
        for (int i = 0; i < 4; i++)
            mine[i] = i * i;
    }
    CHECK(same && omp_target_memcpy(got, mine, sizeof got, 0, 0, omp_get_initial_device(), device) == 0);
    CHECK(got[3] == 9);
    int mapped[3] = {5, 6, 7}, *pointer = &mapped[1], sum = 0;
    #pragma omp target data map(to: mapped)
    #pragma omp target map(from: sum)
    sum = pointer[0] + pointer[1];
    CHECK(sum == 13);
    omp_target_free(mine, device);
    DONE;
}
