/* Ends while kernels that it has not waited for are still to run: the second is behind the first in its queue. */
#include <stdio.h>

int main(void)
{
  float sums[2] = { 0, 0 };
#pragma acc enter data create(sums)
  for (int k = 0; k < 2; k++) {
#pragma acc parallel present(sums) async(1)
    {
      float sum = 0;
      for (int i = 0; i < 300000; i++)
        sum += (float)(i & k) * 0.5f;
      sums[k] = sum;
    }
  }
  puts("passed");
  return 0;
}
