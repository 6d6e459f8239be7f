// as without OpenACC
/* Variables of gangs and workers that shared memory has no room for. */
#include <stdio.h>

enum { GANGS = 40, LARGE = 20000, PARTS = 3000 };

static long sums[GANGS], parts[GANGS][4];
static int small[GANGS];

int main(void) {
  /* More gangs than there are parts of device memory, and a variable beside it that has room. */
#pragma acc parallel loop gang num_gangs(GANGS) vector_length(64) copyout(sums, small)
  for (int g = 0; g < GANGS; g++) {
    int large[LARGE], few[8];
    long sum = 0;
    for (int i = 0; i < 8; i++) few[i] = g + i;
#pragma acc loop vector
    for (int i = 0; i < LARGE; i++) large[i] = i + few[i % 8];
#pragma acc loop vector reduction(+ : sum)
    for (int i = 0; i < LARGE; i++) sum += large[LARGE - 1 - i] * (i % 3);
    sums[g] = sum;
    small[g] = few[7];
  }
  /* One for each worker, private by a clause. */
  double own[PARTS];
#pragma acc parallel num_gangs(GANGS) num_workers(4) vector_length(32) copyout(parts)
#pragma acc loop gang
  for (int g = 0; g < GANGS; g++) {
#pragma acc loop worker private(own)
    for (int w = 0; w < 4; w++) {
#pragma acc loop vector
      for (int i = 0; i < PARTS; i++) own[i] = g * w + i;
      double all = 0;
#pragma acc loop vector reduction(+ : all)
      for (int i = 0; i < PARTS; i++) all += own[PARTS - 1 - i];
      parts[g][w] = all;
    }
  }
  for (int g = 0; g < GANGS; g++) {
    printf("%ld %d", sums[g], small[g]);
    for (int w = 0; w < 4; w++) printf(" %ld", parts[g][w]);
    puts("");
  }
  return 0;
}
