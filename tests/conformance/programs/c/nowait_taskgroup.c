// covers: target nowait inside taskgroup, from the initial thread and from several threads of a team
#include <stdio.h>

int main(void) {
  int part[16] = {0}, total = 0;
#pragma omp taskgroup
  {
    for (int i = 0; i < 16; i++) {
#pragma omp target nowait map(tofrom : part[i : 1]) firstprivate(i)
      for (int k = 0; k <= i; k++) part[i] += k;
    }
  }
  for (int i = 0; i < 16; i++) total += part[i];
  printf("%d %d\n", part[15], total);

  int cells[4][8] = {{0}};
#pragma omp parallel for num_threads(4)
  for (int t = 0; t < 4; t++) {
#pragma omp taskgroup
    for (int i = 0; i < 8; i++) {
#pragma omp target nowait map(tofrom : cells[t][i : 1]) firstprivate(t, i)
      cells[t][i] = 10 * t + i;
    }
  }
  for (int t = 0; t < 4; t++) {
    for (int i = 0; i < 8; i++) printf("%d ", cells[t][i]);
    printf("\n");
  }
  return 0;
}
