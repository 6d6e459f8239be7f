/* Since GCC 16: iterators in map clauses of a region. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#define CHECK(what) do { if (!(what)) { printf("%d: %s\n", __LINE__, #what); return 1; } } while (0)
#define DONE do { puts("passed"); return 0; } while (0)

#define N 5

int main(void)
{
    int *rows[N], sum = 0;
    for (int i = 0; i < N; i++) {
        rows[i] = malloc((i + 1) * sizeof(int));
        for (int j = 0; j <= i; j++)
            rows[i][j] = 10 * i + j;
    }
    #pragma omp target enter data map(to: rows)
    #pragma omp target map(iterator(i = 0:N), tofrom: rows[i][:i + 1]) map(tofrom: sum)
    for (int i = 0; i < N; i++)
        for (int j = 0; j <= i; j++)
            sum += rows[i][j]++;
    #pragma omp target exit data map(delete: rows)
    int expected = 0;
    for (int i = 0; i < N; i++)
        for (int j = 0; j <= i; j++) {
            expected += 10 * i + j;
            CHECK(rows[i][j] == 10 * i + j + 1);
        }
    CHECK(sum == expected);
    DONE;
}
