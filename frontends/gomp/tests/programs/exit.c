/* The program ends during asynchronous work: of its own, and of another thread. */
#include "check.h"
#include <omp.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LENGTH = 1 << 15 };

static int list[LENGTH];
static int rounds;

static void *launch(void *unused)
{
  for (;;) {
#pragma omp target nowait map(tofrom : list)
    for (int i = 0; i < LENGTH; i++)
      list[i]++;
#pragma omp taskwait
    __atomic_add_fetch(&rounds, 1, __ATOMIC_RELEASE);
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
    /* From then on there is always something under way. */
    while (__atomic_load_n(&rounds, __ATOMIC_ACQUIRE) < 3)
      usleep(1000);
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
