// covers: exit in a target region ends the program, and keeps what has been written
// status: exit 7
#include <stdio.h>
#include <stdlib.h>

static void at_the_end(void) { puts("at the end"); }

int main(void)
{
  atexit(at_the_end);
  int status = 7;
#pragma omp target map(to : status)
  {
    puts("last words");
    printf("of a region\n");
    exit(status);
  }
  puts("not reached");
  return 0;
}
