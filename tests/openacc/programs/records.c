// as without OpenACC
#include <stdio.h>
struct part { double x; int n; };
struct both { double ax; int an; double bx; int bn; long m; };
int main(void) {
  struct both t = {1, 2, 3, 4, 5};
  struct part p = {0, 0};
#pragma acc parallel loop reduction(+: t)
  for (int i = 0; i < 1000; i++) { t.ax += i; t.an += 1; t.bx += 0.5; t.bn += i % 3; t.m -= i; }
#pragma acc parallel num_gangs(4) num_workers(4) vector_length(64) reduction(max: p)
#pragma acc loop gang worker vector reduction(max: p)
  for (int i = 0; i < 1000; i++) { if (i % 77 > p.n) p.n = i % 77; if (i * 0.25 > p.x) p.x = i * 0.25; }
  struct part row[5];
#pragma acc parallel loop gang copyout(row)
  for (int g = 0; g < 5; g++) {
    struct part q = {0, 0};
#pragma acc loop worker vector reduction(+: q)
    for (int i = 0; i < 100; i++) { q.x += i * g; q.n += g; }
    row[g] = q;
  }
  printf("%g %d %g %d %ld %g %d\n", t.ax, t.an, t.bx, t.bn, t.m, p.x, p.n);
  for (int g = 0; g < 5; g++) printf("%g %d\n", row[g].x, row[g].n);
  return 0;
}
