// Output by printf alone, and with -DALL by the functions that ask the host.
#include <stdio.h>

int main(int count, char **words)
{
  (void)words;
  int answer = 0;
#pragma omp target map(from : answer)
  {
    answer = printf("printf %d\n", 1);
#ifdef ALL
    puts("puts");
    printf("printf %d\n", 2);
    fprintf(stderr, "fprintf %d\n", 3);
#endif
  }
  return count == 1 ? 0 : answer;
}
