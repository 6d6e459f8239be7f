/* Host calls in bad company: a kernel that dies, a device that is reset and a process that ends while calls are under way, and
 * a function for which the other lanes of a warp have to be served. */
#include <gangway/host_call.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern int cuDevicePrimaryCtxReset_v2(int device);

static int inside, most;

/* In microseconds. At the end of the process functions are waited for, for two seconds. */
static int slowness = 1000000;

/* Waits until as many calls are inside as `meet` has to see, or ten seconds. */
static void meet(void *block, size_t size)
{
  int *answer = block;
  __atomic_add_fetch(&inside, 1, __ATOMIC_SEQ_CST);
  for (int turn = 0; turn < 10000 && __atomic_load_n(&inside, __ATOMIC_SEQ_CST) < most; turn++)
    usleep(1000);
  *answer = __atomic_load_n(&inside, __ATOMIC_SEQ_CST);
  (void)size;
}

static void slow(void *block, size_t size)
{
  __atomic_store_n(&inside, 1, __ATOMIC_SEQ_CST);
  usleep(slowness);
  memset(block, 1, size);
}

static void has_begun(void *block, size_t size)
{
  *(int *)block = __atomic_load_n(&inside, __ATOMIC_SEQ_CST);
  (void)size;
}

/* As an exception would, this leaves the function by unwinding. */
static void leave(void *block, size_t size)
{
  (void)block, (void)size;
  pthread_exit(NULL);
}

GANGWAY_HOST_FUNCTION(meet);
GANGWAY_HOST_FUNCTION(slow);
GANGWAY_HOST_FUNCTION(has_begun);
GANGWAY_HOST_FUNCTION(leave);

static int lanes(void)
{
  int wrong = 0;
  most = 32;
  #pragma omp target teams num_teams(1) map(tofrom: wrong)
  #pragma omp parallel num_threads(32)
  {
    int seen = 0;
    GANGWAY_HOST_CALL(meet, &seen, sizeof seen);
    if (seen < 32) {
      #pragma omp atomic
      wrong++;
    }
  }
  return wrong;
}

static void call_slowly(void)
{
  int x = 0;
  #pragma omp target map(tofrom: x)
  GANGWAY_HOST_CALL(slow, &x, sizeof x);
  printf("answered %d\n", x == 0x01010101);
  fflush(stdout);
}

static void *on_a_thread(void *nothing)
{
  call_slowly();
  return nothing;
}

/* One thread waits for the host, and another one dies. */
static void die(void)
{
  #pragma omp target teams distribute parallel for num_teams(2) thread_limit(32) dist_schedule(static, 1)
  for (int team = 0; team < 2; team++) {
    int x = 0;
    if (team == 0)
      GANGWAY_HOST_CALL(slow, &x, sizeof x);
    else {
      while (!x)
        GANGWAY_HOST_CALL(has_begun, &x, sizeof x);
      __builtin_trap();
    }
  }
}

int main(int argc, char **argv)
{
  const char *what = argc > 1 ? argv[1] : "lanes";
  pthread_t thread;
  if (!strcmp(what, "lanes")) {
    printf("wrong %d\n", lanes());
    return 0;
  }
  if (!strcmp(what, "die")) {
    slowness = 3000000;
    die();
    return 3;
  }
  if (!strcmp(what, "leave")) {
    int x = 0;
    #pragma omp target map(tofrom: x)
    GANGWAY_HOST_CALL(leave, &x, sizeof x);
    return 3;
  }
  pthread_create(&thread, NULL, on_a_thread, NULL);
  while (!__atomic_load_n(&inside, __ATOMIC_SEQ_CST))
    usleep(100);
  if (!strcmp(what, "reset")) {
    printf("reset %d\n", cuDevicePrimaryCtxReset_v2(0));
    fflush(stdout);
    pthread_join(thread, NULL);
    call_slowly();
    return 3;
  }
  printf("ends\n");
  fflush(stdout);
  if (!strcmp(what, "_exit"))
    _exit(0);
  exit(0);
}
