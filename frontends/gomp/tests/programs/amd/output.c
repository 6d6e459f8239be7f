/* What device code writes comes in order and between what the host writes; more lines than a ring has; how it ends. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
  puts("host: begin");
#pragma omp target
  printf("device: %d %s\n", 42, "lines");
  puts("host: between");
#pragma omp target
  for (int line = 0; line < 3000; line++)
    printf("line %d\n", line);
  puts("host: end");
  if (argc > 1 && strcmp(argv[1], "exit") == 0) {
#pragma omp target
    exit(7);
    puts("host: not here");
  }
  if (argc > 1 && strcmp(argv[1], "abort") == 0) {
#pragma omp target
    abort();
    puts("host: not here");
  }
}
