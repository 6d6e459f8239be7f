// covers: schedules static, dynamic, guided, auto, runtime with chunks, and iteration counts 0 and 1
// env: OMP_SCHEDULE=dynamic,3
#include <stdio.h>

#define RUN(CLAUSE, N)                                                        \
  {                                                                           \
    int hit[130] = {0}, bad = 0;                                              \
    int n = N;                                                                \
    _Pragma(CLAUSE) for (int i = 0; i < n; i++) {                             \
      _Pragma("omp atomic") hit[i]++;                                         \
    }                                                                         \
    for (int i = 0; i < 130; i++) bad += hit[i] != (i < n);                   \
    printf("%s: %d bad of %d\n", CLAUSE, bad, n);                             \
  }

int main(void) {
  RUN("omp target parallel for map(tofrom : hit) schedule(static)", 130)
  RUN("omp target parallel for map(tofrom : hit) schedule(static, 7)", 100)
  RUN("omp target parallel for map(tofrom : hit) schedule(dynamic)", 77)
  RUN("omp target parallel for map(tofrom : hit) schedule(dynamic, 9)", 130)
  RUN("omp target parallel for map(tofrom : hit) schedule(guided)", 130)
  RUN("omp target parallel for map(tofrom : hit) schedule(guided, 4)", 99)
  RUN("omp target parallel for map(tofrom : hit) schedule(auto)", 1)
  RUN("omp target parallel for map(tofrom : hit) schedule(runtime)", 65)
  RUN("omp target parallel for map(tofrom : hit) schedule(monotonic : static)", 0)
  RUN("omp target teams distribute parallel for map(tofrom : hit) schedule(dynamic, 2)", 128)
  RUN("omp target teams distribute parallel for map(tofrom : hit) dist_schedule(static, 8)", 125)
  return 0;
}
