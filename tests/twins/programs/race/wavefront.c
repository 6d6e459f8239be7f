// Longest common subsequence by diagonals, one `nowait` region each, in order by `depend`. Wrong: by nothing.
// with: openmp gcc
#include <stdio.h>
#include <string.h>
#define N 40
int main(void) {
  static int t[N + 1][N + 1];
  char a[N], b[N];
  for (int i = 0; i < N; i++)
    a[i] = 'a' + i * 7 % 5, b[i] = 'a' + i * 3 % 4;
  memset(t, 0, sizeof t);
#pragma omp target data map(tofrom : t) map(to : a, b)
  {
    for (int d = 2; d <= 2 * N; d++) {
      int from = d - N > 1 ? d - N : 1, to = d - 1 < N ? d - 1 : N;
#ifdef WRONG
#pragma omp target teams distribute parallel for nowait firstprivate(d)
#else
#pragma omp target teams distribute parallel for nowait firstprivate(d) depend(inout : t)
#endif
      for (int i = from; i <= to; i++) {
        int j = d - i;
        int longest = t[i - 1][j] > t[i][j - 1] ? t[i - 1][j] : t[i][j - 1]; // finds
        if (a[i - 1] == b[j - 1] && t[i - 1][j - 1] + 1 > longest)
          longest = t[i - 1][j - 1] + 1;
        t[i][j] = longest;
      }
    }
#pragma omp taskwait
  }
  printf("%d\n", t[N][N]);
  return 0;
}
