/* Errors that end the program: of its only thread, of eight at once, of a region that nobody has
   waited for yet, and once more in an exit handler, or of a thread that the handler waits for. */
#include "check.h"
#include <omp.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

enum { THREADS = 8 };

static int list[100];
static int again, joins;
static pthread_barrier_t all;

static void wrong_update(void)
{
#pragma omp target update from(list[5 : 10])
}

static void *thread(void *unused)
{
  pthread_barrier_wait(&all);
  wrong_update();
  return unused;
}

static void at_exit(void)
{
  puts("handler");
  fflush(stdout);
  if (again) {
    wrong_update();
    puts("after");
  }
  if (joins) {
    pthread_t other;
    CHECK(pthread_barrier_init(&all, NULL, 1) == 0 && pthread_create(&other, NULL, thread, NULL) == 0);
    pthread_join(other, NULL);
    puts("after");
  }
}

static void faults(int *volatile nothing)
{
#pragma omp target nowait is_device_ptr(nothing)
  nothing[1 << 20] = 1;
#pragma omp taskwait
}

int main(int argc, char **argv)
{
  CHECK(argc == 2 && atexit(at_exit) == 0);
#pragma omp target enter data map(to : list[10 : 10])
  puts("before");
  if (strcmp(argv[1], "threads") == 0) {
    pthread_t threads[THREADS];
    CHECK(pthread_barrier_init(&all, NULL, THREADS) == 0);
    for (int k = 0; k < THREADS; k++)
      CHECK(pthread_create(&threads[k], NULL, thread, NULL) == 0);
    for (int k = 0; k < THREADS; k++)
      pthread_join(threads[k], NULL);
  } else if (strcmp(argv[1], "nowait") == 0) {
    faults(NULL);
  } else {
    again = strcmp(argv[1], "handler") == 0;
    joins = strcmp(argv[1], "joins") == 0;
    wrong_update();
  }
  puts("after");
  return 0;
}
