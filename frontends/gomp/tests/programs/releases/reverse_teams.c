/* Since GCC 13: all threads of all teams call the host. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#define CHECK(what) do { if (!(what)) { printf("%d: %s\n", __LINE__, #what); return 1; } } while (0)
#define DONE do { puts("passed"); return 0; } while (0)

#pragma omp requires reverse_offload

int main(void)
{
    int seen[64] = {0}, calls = 0;
    #pragma omp target teams num_teams(4) thread_limit(4) map(tofrom: seen, calls)
    #pragma omp parallel num_threads(4)
    {
        int me = omp_get_team_num() * 4 + omp_get_thread_num();
        #pragma omp target device(ancestor: 1) firstprivate(me) map(always, tofrom: seen, calls)
        {
            seen[me] += 1 + me;
            calls++;
        }
    }
    int threads = 0;
    for (int i = 0; i < 64; i++)
        threads += seen[i] != 0;
    CHECK(calls >= 4 && threads == calls);
    for (int i = 0; i < 64; i++)
        CHECK(seen[i] == 0 || seen[i] == i + 1);
    DONE;
}
