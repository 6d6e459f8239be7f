// as without OpenACC
// Variables of `declare link` are on devices while data clauses bring them, and come back then.
#include <stdio.h>

enum { N = 30 };

static int table[N];
double values[N];
#pragma acc declare link(table, values)
static long shared[N];
#pragma acc declare link(shared)

#pragma acc routine seq
static long twice(int i) { return 2 * shared[i]; }

int main(void) {
  long sum = 0;
  for (int i = 0; i < N; i++) shared[i] = i, table[i] = i, values[i] = 0.5 * i;
  for (int step = 0; step < 2; step++) {
#pragma acc data copy(table) copyin(values)
    {
#pragma acc parallel loop
      for (int i = 0; i < N; i++) table[i] += (int)values[i];
#pragma acc parallel loop copy(table)
      for (int i = 0; i < N; i++) table[i] *= 2;
    }
    values[3] = 100;
  }
#pragma acc parallel loop
  for (int i = 0; i < N; i++) table[i] -= 1;
#pragma acc enter data create(shared)
#pragma acc parallel loop present(shared)
  for (int i = 0; i < N; i++) shared[i] = i;
#pragma acc parallel loop reduction(+ : sum)
  for (int i = 0; i < N; i++) sum += twice(i);
  for (int i = 0; i < N; i++) printf("%d ", table[i]);
  printf("%ld\n", sum);
  return 0;
}
