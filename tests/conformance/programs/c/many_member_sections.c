// covers: sections behind the pointers of eleven and of sixteen structures in one region
#include <stdio.h>

typedef struct {
  int *p;
} vector;

int b[16][4];
#define VECTOR(n) v##n = {b[n]}
#define SECTION(n) map(tofrom : v##n.p[0 : 4])
#define ADD(n) v##n.p[n % 4] += n + 1

static void show(const char *count) {
  printf("%s:", count);
  for (int i = 0; i < 16; i++)
    printf(" %d", b[i][i % 4]);
  printf("\n");
}

int main(void) {
  vector VECTOR(0), VECTOR(1), VECTOR(2), VECTOR(3), VECTOR(4), VECTOR(5), VECTOR(6), VECTOR(7);
  vector VECTOR(8), VECTOR(9), VECTOR(10), VECTOR(11), VECTOR(12), VECTOR(13), VECTOR(14), VECTOR(15);
#pragma omp target SECTION(0) SECTION(1) SECTION(2) SECTION(3) SECTION(4) \
    SECTION(5) SECTION(6) SECTION(7) SECTION(8) SECTION(9)
  ADD(0), ADD(1), ADD(2), ADD(3), ADD(4), ADD(5), ADD(6), ADD(7),
      ADD(8), ADD(9);
  show("ten");
#pragma omp target SECTION(0) SECTION(1) SECTION(2) SECTION(3) SECTION(4) \
    SECTION(5) SECTION(6) SECTION(7) SECTION(8) SECTION(9) \
    SECTION(10)
  ADD(0), ADD(1), ADD(2), ADD(3), ADD(4), ADD(5), ADD(6), ADD(7),
      ADD(8), ADD(9), ADD(10);
  show("eleven");
#pragma omp target SECTION(0) SECTION(1) SECTION(2) SECTION(3) SECTION(4) \
    SECTION(5) SECTION(6) SECTION(7) SECTION(8) SECTION(9) \
    SECTION(10) SECTION(11) SECTION(12) SECTION(13) SECTION(14) \
    SECTION(15)
  ADD(0), ADD(1), ADD(2), ADD(3), ADD(4), ADD(5), ADD(6), ADD(7),
      ADD(8), ADD(9), ADD(10), ADD(11), ADD(12), ADD(13), ADD(14), ADD(15);
  show("sixteen");
  return 0;
}
