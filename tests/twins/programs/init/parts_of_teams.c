// Sums of teams, which one adds up: as many as there are, or one more.
// with: openmp gcc
#include <omp.h>
#include <stdio.h>

int main(void)
{
  enum { TEAMS = 8 };
  int device = omp_get_default_device();
  double sum = 0, *parts = omp_target_alloc((TEAMS + 1) * sizeof *parts, device);
#pragma omp target teams distribute is_device_ptr(parts)
  for (int team = 0; team < TEAMS; ++team) {
    double own = 0;
#pragma omp parallel for reduction(+: own)
    for (int i = 0; i < 100; ++i)
      own += i * team;
    parts[team] = own;
  }
#ifdef WRONG
  int count = TEAMS + 1;
#else
  int count = TEAMS;
#endif
#pragma omp target is_device_ptr(parts) map(tofrom: sum)
  for (int team = 0; team < count; ++team)
    if (parts[team] > 10) // finds: a branch
      sum += parts[team];
  omp_target_free(parts, device);
  printf("%g\n", sum);
  return 0;
}
