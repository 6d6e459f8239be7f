// covers: the end of the process while a region goes on calling a function of the host
// stock: unusable because host calls are not in it
#include "../../../../frontends/openmp/include/gangway/host_call.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int calls;

static void count(void *block, size_t size) {
  __atomic_add_fetch(&calls, 1, __ATOMIC_SEQ_CST);
  (void)block, (void)size;
}
GANGWAY_HOST_FUNCTION(count);

static void *go_on(void *unused) {
#pragma omp target
  for (int i = 0; i < 1000000000; i++)
    // What has been registered answers until the process is gone.
    if (GANGWAY_HOST_CALL(count, &i, 0) != GANGWAY_HOST_CALL_DONE)
      __builtin_trap();
  return unused;
}

// Runs behind all that takes functions away.
static __attribute__((destructor(101))) void linger(void) { usleep(300000); }

int main(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, go_on, NULL);
  while (__atomic_load_n(&calls, __ATOMIC_SEQ_CST) < 10)
    usleep(1000);
  printf("ends\n");
  exit(0);
}
