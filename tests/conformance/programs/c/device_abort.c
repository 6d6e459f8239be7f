// covers: abort in a target region, behind output that has been flushed
// status: signal 6
#include <stdio.h>
#include <stdlib.h>

int main(void)
{
#pragma omp target
  {
    puts("last words");
    printf("of a region\n");
    fflush(stdout);
    abort();
  }
  puts("not reached");
  return 0;
}
