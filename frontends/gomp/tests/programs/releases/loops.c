/* Since GCC 15: tile and unroll. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#define CHECK(what) do { if (!(what)) { printf("%d: %s\n", __LINE__, #what); return 1; } } while (0)
#define DONE do { puts("passed"); return 0; } while (0)

int main(void)
{
    int a[30][20], wrong = 0;
    #pragma omp target map(from: a)
    {
        #pragma omp tile sizes(4, 8)
        for (int i = 0; i < 30; i++)
            for (int j = 0; j < 20; j++)
                a[i][j] = i * 100 + j;
        #pragma omp parallel for
        #pragma omp unroll partial(4)
        for (int i = 0; i < 30; i++)
            a[i][0] += 1;
    }
    for (int i = 0; i < 30; i++)
        for (int j = 0; j < 20; j++)
            wrong += a[i][j] != i * 100 + j + (j == 0);
    CHECK(!wrong);
    DONE;
}
