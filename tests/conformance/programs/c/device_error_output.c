// covers: fprintf(stderr) in a target region
// stderr: equal device:
#include <stdio.h>

int main(void)
{
#pragma omp target
  {
    fprintf(stderr, "device: %s %d\n", "one", 1);
    fputs("device: two\n", stderr);
  }
  puts("done");
  return 0;
}
