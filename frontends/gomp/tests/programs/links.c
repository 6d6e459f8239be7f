/* A variable that the device has a pointer for, and no storage. The only one of its program: with
   others, GCC 12 numbers them differently for host and device. */
#include "check.h"

int linked[200];
#pragma omp declare target link(linked)

int main(void)
{
  for (int i = 0; i < 200; i++)
    linked[i] = i;
  int sum = 0;
#pragma omp target map(tofrom : linked, sum)
  {
    for (int i = 0; i < 200; i++)
      sum += linked[i] *= 4;
  }
  CHECK(sum == 4 * 19900 && linked[199] == 796);
  /* Present already. GCC 12 leaves out what a region does to a section of such a variable. */
#pragma omp target enter data map(to : linked)
#pragma omp target map(tofrom : sum)
  sum = linked[199];
  CHECK(sum == 796);
#pragma omp target exit data map(delete : linked)
  puts("passed");
}
