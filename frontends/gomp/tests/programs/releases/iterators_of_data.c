/* Since GCC 16: iterators where data begins, is updated and ends. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#define CHECK(what) do { if (!(what)) { printf("%d: %s\n", __LINE__, #what); return 1; } } while (0)
#define DONE do { puts("passed"); return 0; } while (0)

#define N 4

int main(void)
{
    int *rows[N], device = omp_get_default_device(), sum = 0;
    for (int i = 0; i < N; i++)
        rows[i] = calloc(8, sizeof(int));
    #pragma omp target enter data map(iterator(i = 0:N), to: rows[i][:8])
    for (int i = 0; i < N; i++) {
        CHECK(omp_target_is_present(rows[i], device));
        for (int j = 0; j < 8; j++)
            rows[i][j] = i + j;
    }
    #pragma omp target update to(iterator(i = 0:N): rows[i][:8])
    for (int i = 0; i < N; i++) {
        int *row = rows[i];
        #pragma omp target map(tofrom: sum)
        for (int j = 0; j < 8; j++)
            sum += row[j] *= 2;
    }
    #pragma omp target update from(iterator(i = 0:N:2): rows[i][:8])
    CHECK(sum == 2 * (4 * 28 + 8 * 6) && rows[2][7] == 18 && rows[3][7] == 10);
    #pragma omp target exit data map(iterator(i = 0:N), from: rows[i][:8])
    CHECK(rows[3][7] == 20);
    for (int i = 0; i < N; i++)
        CHECK(!omp_target_is_present(rows[i], device));
    DONE;
}
