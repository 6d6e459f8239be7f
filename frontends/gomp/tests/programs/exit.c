/* The program ends during asynchronous work: of its own, and of another thread. */
#include "check.h"
#include <omp.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { LENGTH = 1 << 15 };

static int list[LENGTH];

static void *launch(void *unused)
{
  for (;;) {
#pragma omp target nowait map(tofrom : list)
    for (int i = 0; i < LENGTH; i++)
      list[i]++;
#pragma omp taskwait
  }
  return unused;
}

int main(int argc, char **argv)
{
  int own = 0;
#pragma omp target
  { }
  if (argc > 1 && strcmp(argv[1], "thread") == 0) {
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, launch, NULL) == 0);
    struct timespec while_it_runs = {.tv_nsec = 30000000};
    nanosleep(&while_it_runs, NULL);
  } else {
    for (int k = 0; k < 20; k++) {
#pragma omp target nowait map(tofrom : list) depend(inout : list)
      for (int i = 0; i < LENGTH; i++)
        list[i]++;
    }
#pragma omp target nowait map(tofrom : own)
    own++;
  }
  puts("passed");
  exit(0);
}
