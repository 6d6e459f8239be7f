// covers: abort in a target region, while a thread of the host waits for input
// status: signal 6
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void *read_input(void *none)
{
  getchar(); // Has stdin locked, for ever.
  return none;
}

int main(void)
{
  int ends[2];
  pthread_t reader;
  if (pipe(ends) || dup2(ends[0], 0) || pthread_create(&reader, NULL, read_input, NULL))
    return 1;
  while (!ftrylockfile(stdin)) {
    funlockfile(stdin);
    usleep(1000);
  }
  fputs("host: not flushed\n", stdout);
#pragma omp target
  {
    puts("last words");
    fflush(stdout);
    abort();
  }
  puts("not reached");
  return 0;
}
