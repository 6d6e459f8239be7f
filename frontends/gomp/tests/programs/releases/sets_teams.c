/* Since GCC 13: what device code sets holds for later regions on its device. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#define CHECK(what) do { if (!(what)) { printf("%d: %s\n", __LINE__, #what); return 1; } } while (0)
#define DONE do { puts("passed"); return 0; } while (0)

int main(void)
{
    int on = 0, teams = 0, limit = 0, most = 0, threads = 0;
    #pragma omp target map(from: on)
    {
        on = !omp_is_initial_device();
        omp_set_num_teams(3);
        omp_set_teams_thread_limit(2);
    }
    #pragma omp target map(from: most, limit)
    {
        most = omp_get_max_teams();
        limit = omp_get_teams_thread_limit();
    }
    CHECK(on && most == 3 && limit == 2);
    #pragma omp target teams map(from: teams) map(tofrom: threads)
    {
        if (omp_get_team_num() == 0)
            teams = omp_get_num_teams();
        #pragma omp parallel
        #pragma omp atomic
        threads++;
    }
    CHECK(teams == 3 && threads <= 6);
    /* A clause comes before it. */
    #pragma omp target teams num_teams(5) map(from: teams)
    if (omp_get_team_num() == 0)
        teams = omp_get_num_teams();
    CHECK(teams == 5);
    #pragma omp target
    omp_set_num_teams(7);
    #pragma omp target teams map(from: teams) nowait depend(out: teams)
    if (omp_get_team_num() == 0)
        teams = omp_get_num_teams();
    #pragma omp taskwait
    CHECK(teams == 7);
    DONE;
}
