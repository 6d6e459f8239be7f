// Three levels, with every combination of gangs, workers and lanes: code between the loops, variables of
// gangs and workers, and reductions at each level.
#include <stdio.h>

enum { G = 7, W = 5, V = 37 };
static int out[G][W][V], rows[G];

static int check(int gangs, int workers, int lanes) {
  int total = 0;
  for (int g = 0; g < G; g++) {
    rows[g] = 0;
    for (int w = 0; w < W; w++)
      for (int v = 0; v < V; v++) out[g][w][v] = -1;
  }
#pragma acc parallel num_gangs(gangs) num_workers(workers) vector_length(lanes) copy(out, rows)
  {
#pragma acc loop gang reduction(+ : total)
    for (int g = 0; g < G; g++) {
      int base[2] = {g, 10 * g};
      int row = 0;
#pragma acc loop worker reduction(+ : row)
      for (int w = 0; w < W; w++) {
        int k = base[0] + base[1] + w, part = 0;
#pragma acc loop vector reduction(+ : part)
        for (int v = 0; v < V; v++) {
          out[g][w][v] = k + v;
          part += v;
        }
        row += part + k;
      }
      rows[g] = row;
      total += row;
    }
  }
  int all = 0;
  for (int g = 0; g < G; g++) {
    int row = 0;
    for (int w = 0; w < W; w++) {
      int k = 11 * g + w;
      row += k;
      for (int v = 0; v < V; v++) {
        row += v;
        if (out[g][w][v] != k + v) return printf("out[%d][%d][%d] is %d\n", g, w, v, out[g][w][v]);
      }
    }
    if (rows[g] != row) return printf("rows[%d] is %d, not %d\n", g, rows[g], row);
    all += row;
  }
  return total == all ? 0 : printf("the total is %d, not %d\n", total, all);
}

int main(void) {
  static const int sizes[] = {1, 2, 3, 32};
  for (int g = 0; g < 4; g++)
    for (int w = 0; w < 4; w++)
      for (int v = 0; v < 4; v++)
        if (check(sizes[g], sizes[w], sizes[v])) {
          printf("with %d gangs, %d workers, %d lanes\n", sizes[g], sizes[w], sizes[v]);
          return 1;
        }
  puts("ok");
  return 0;
}
