/* Since GCC 15: directives that conditions choose. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#define CHECK(what) do { if (!(what)) { printf("%d: %s\n", __LINE__, #what); return 1; } } while (0)
#define DONE do { puts("passed"); return 0; } while (0)

int main(void)
{
    int a[64], teams = 0;
    #pragma omp metadirective when(user={condition(1)}: target teams distribute parallel for map(from: a)) \
        otherwise(parallel for)
    for (int i = 0; i < 64; i++)
        a[i] = i ^ 5;
    for (int i = 0; i < 64; i++)
        CHECK(a[i] == (i ^ 5));
    #pragma omp target map(from: teams)
    {
        #pragma omp metadirective when(device={kind(nohost)}: parallel num_threads(2)) otherwise(single)
        {
            if (omp_get_thread_num() == 0)
                teams = 1 + (omp_get_num_threads() == 2);
        }
    }
    CHECK(teams);
    DONE;
}
