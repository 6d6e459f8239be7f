// Memory of teams (`dyn_groupprivate`): as much as a device has of it, and more, with each fallback. FALLBACK is
// the modifier, BYTES what is asked for, CLAUSES what else the construct has; it prints what a team got: `team`, `device` (the same of other memory), or
// `none`. -fopenmp-version=61.
#include <stdint.h>
#include <omp.h>
int printf(const char *, ...);

enum { TEAMS = 7, THREADS = 32 };

int main(void) {
  unsigned long bytes = BYTES, count = bytes / sizeof(int), size = 0;
  long space = -1;
  int *first[TEAMS] = {0}, wrong = 0, own = 0;
#pragma omp target teams num_teams(TEAMS) thread_limit(THREADS) map(tofrom : first, wrong, own, size, space) \
    dyn_groupprivate(FALLBACK bytes) CLAUSES
  {
    int team = omp_get_team_num();
    int *memory = omp_get_dyn_gprivate_ptr(0, omp_access_cgroup);
    first[team] = memory;
    if (memory) {
#pragma omp parallel for num_threads(THREADS)
      for (unsigned long i = 0; i < count; ++i)
        memory[i] = team * 1000003 + (int)i;
      int bad = 0;
#pragma omp parallel for num_threads(THREADS) reduction(+ : bad)
      for (unsigned long i = 0; i < count; ++i)
        bad += memory[i] != team * 1000003 + (int)i;
      if (bad || omp_get_dyn_gprivate_ptr(4, omp_access_cgroup) != memory + 1)
#pragma omp atomic
        wrong += 1;
    }
    if (team == TEAMS - 1) {
      own = omp_get_dyn_gprivate_nofb_ptr(0, omp_access_cgroup) != 0;
      size = omp_get_dyn_gprivate_size(omp_access_cgroup);
      space = (long)omp_get_dyn_gprivate_memspace(omp_access_cgroup);
    }
  }
  if (wrong) {
    printf("%d teams read other values than they wrote\n", wrong);
    return 1;
  }
  int given = 0;
  for (int i = 0; i < TEAMS; ++i)
    given += first[i] != 0;
  if (given != 0 && given != TEAMS)
    return 2;
  printf("%s, %lu bytes, space %ld\n", own ? "team" : given ? "device" : "none", size, space);
  return 0;
}
