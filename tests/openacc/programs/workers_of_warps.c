// as without OpenACC
/* Workers of several warps, beside others in their gang: how many rounds lanes have to wait for each other. */
#include <stdio.h>
int main(void) {
  static int a[6][256]; int bad = 0; long total = 0;
#pragma acc parallel num_gangs(6) num_workers(3) vector_length(96) copyout(a) reduction(+ : total)
#pragma acc loop gang
  for (int g = 0; g < 6; g++) {
    long mine = 0;
#pragma acc loop worker reduction(+ : mine)
    for (int w = 0; w < 7; w++) {
      int turn[256];
      for (int k = 0; k <= w; k++) {
#pragma acc loop vector
        for (int i = 0; i < 256; i++) turn[i] = g * 1000 + w * 100 + i + k;
        int sum = 0;
#pragma acc loop vector reduction(+ : sum)
        for (int i = 0; i < 256; i++) sum += turn[255 - i] * (i + 1);
        mine += sum;
      }
      if (w == 6) {
#pragma acc loop vector
        for (int i = 0; i < 256; i++) a[g][i] = turn[255 - i];
      }
    }
    total += mine;
  }
  for (int g = 0; g < 6; g++)
    for (int i = 0; i < 256; i++) bad += a[g][i] != g * 1000 + 600 + 255 - i + 6;
  printf("%d %ld\n", bad, total);
}
