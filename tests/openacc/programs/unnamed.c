// as without OpenACC
// Structures without a name, and such as are declared in a construct, with variables that threads share.
#include <stdio.h>

enum { N = 40, M = 50 };

static double list[N][M];

static double twice(double x) { return 2 * x; }

int main(void) {
  struct {
    double sum;
    int count;
  } all = {0, 0}, part = {1, 2};
  union {
    float f;
    unsigned bits;
  } bits;
  bits.f = 1.5f;
#pragma acc parallel loop reduction(+ : all) firstprivate(part)
  for (int i = 0; i < N; i++) {
    part.sum = 2 * i;
    all.sum += part.sum - i;
    all.count += part.count;
  }
  printf("%g %d\n", all.sum, all.count);
#pragma acc parallel loop gang num_workers(2) vector_length(32) copyout(list) private(part)
  for (int i = 0; i < N; i++) {
    double half = twice(i) / 4;
    struct {
      double first;
      int rows[4];
    } own = {half, {i}};
    struct named {
      double value;
    } two[3] = {{half + 1}};
    part.sum = half;
    own.first += 1;
    own.rows[1] = 7;
#pragma acc loop worker vector
    for (int j = 0; j < M; j++) list[i][j] = own.first + own.rows[j % 4] + part.sum + two[0].value + bits.f;
    two[1].value = own.first;
    struct named three = two[1];
#pragma acc loop vector
    for (int j = 0; j < M; j++) list[i][j] += three.value;
  }
  double sum = 0;
  for (int i = 0; i < N; i++)
    for (int j = 0; j < M; j++) sum += list[i][j] * (j % 5);
  printf("%g\n", sum);
  return 0;
}
