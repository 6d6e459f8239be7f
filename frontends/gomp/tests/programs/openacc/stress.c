/* Threads, queues and data directives by chance, checked against a model.
 *
 * Each thread has arrays of its own, and knows what the host and the device have of each: all
 * elements of an array are equal. An array's operations go into one queue, which others use, too,
 * and now and then into another one, behind the first. All threads read a shared array, which
 * comes and goes.
 */
#include "../check.h"
#include <openacc.h>
#include <pthread.h>
#include <time.h>

enum { THREADS = 6, ARRAYS = 4, QUEUES = 5, N = 64, SHARED = 1000 };

struct array {
  int values[N];
  int host, device, count, queue;
};

struct thread {
  pthread_t thread;
  unsigned random;
  int number;
  long operations;
  struct array arrays[ARRAYS];
};

static int shared[N];
static double seconds;
static struct timespec start;

static int chance(struct thread *t, int below)
{
  t->random = t->random * 1664525u + 1013904223u;
  return (t->random >> 8) % below;
}

static int is_over(void)
{
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec - start.tv_sec + (now.tv_nsec - start.tv_nsec) / 1e9 > seconds;
}

static void check_host(struct array *a)
{
  acc_wait(a->queue);
  for (int i = 0; i < N; ++i)
    CHECK(a->values[i] == a->host);
}

static void set_host(struct array *a, int value)
{
  acc_wait(a->queue);
  for (int i = 0; i < N; ++i)
    a->values[i] = value;
  a->host = value;
}

static void kernel(struct array *a, int what)
{
  int *v = a->values, q = a->queue;
  (void)q;
#pragma acc parallel loop present(v[0:N]) firstprivate(what) async(q)
  for (int i = 0; i < N; ++i)
    v[i] += what;
  a->device += what;
}

static void kernel_with_shared(struct array *a)
{
  int *v = a->values, q = a->queue;
  (void)q;
#pragma acc parallel loop copyin(shared[0:N]) present(v[0:N]) async(q)
  for (int i = 0; i < N; ++i)
    v[i] += shared[i];
  a->device += SHARED;
}

static void enter(struct thread *t, struct array *a, int present)
{
  int *v = a->values, q = a->queue;
  if (!present)
    a->device = a->host;
  switch (chance(t, 3)) {
  case 0: {
#pragma acc enter data copyin(v[0:N]) async(q)
    break;
  }
  case 1:
    acc_wait(q);
    acc_copyin(v, sizeof a->values);
    break;
  default:
    acc_copyin_async(v, sizeof a->values, q);
  }
  ++a->count;
}

static void leave(struct thread *t, struct array *a)
{
  int *v = a->values, q = a->queue, copies = chance(t, 2), all = chance(t, 4) == 0;
  switch (2 * copies + all) {
  case 0: {
#pragma acc exit data delete(v[0:N]) async(q)
    break;
  }
  case 1:
    acc_delete_finalize_async(v, sizeof a->values, q);
    break;
  case 2: {
#pragma acc exit data copyout(v[0:N]) async(q)
    break;
  }
  default:
    acc_wait(q);
    acc_copyout_finalize(v, sizeof a->values);
  }
  a->count = all ? 0 : a->count - 1;
  if (copies && a->count == 0)
    a->host = a->device;
}

/* Structured data around it: the dynamic references decide whether it is copied. */
static void structured(struct thread *t, struct array *a)
{
  int *v = a->values, before = a->count;
  (void)v;
  acc_wait(a->queue);
#pragma acc data copy(v[0:N])
  {
    if (before == 0)
      a->device = a->host;
    kernel(a, 3);
    if (chance(t, 2))
      enter(t, a, 1);
    acc_wait(a->queue);
  }
  if (a->count == 0)
    a->host = a->device;
}

static void update(struct thread *t, struct array *a)
{
  int *v = a->values, q = a->queue;
  (void)v, (void)q;
  if (chance(t, 2)) {
#pragma acc update self(v[0:N]) async(q)
    a->host = a->device;
  } else {
    set_host(a, chance(t, 1000));
#pragma acc update device(v[0:N]) async(q)
    a->device = a->host;
  }
}

static void change_queue(struct thread *t, struct array *a)
{
  int from = a->queue, to = chance(t, QUEUES);
  switch (chance(t, 3)) {
  case 0: {
#pragma acc wait(from) async(to)
    break;
  }
  case 1:
    acc_wait_async(from, to);
    break;
  default:
    acc_wait(from);
  }
  a->queue = to;
}

static void *work(void *argument)
{
  struct thread *t = argument;
  for (int k = 0; k < ARRAYS; ++k) {
    t->arrays[k].queue = chance(t, QUEUES);
    set_host(&t->arrays[k], k);
  }
  while (!is_over()) {
    struct array *a = &t->arrays[chance(t, ARRAYS)];
    ++t->operations;
    switch (chance(t, 8)) {
    case 0:
      enter(t, a, a->count != 0);
      break;
    case 1:
      structured(t, a);
      break;
    case 2:
      change_queue(t, a);
      break;
    case 3:
      check_host(a);
      break;
    case 4:
      if (a->count)
        leave(t, a);
      break;
    case 5:
      if (a->count)
        update(t, a);
      break;
    case 6:
      if (a->count)
        kernel_with_shared(a);
      break;
    default:
      if (a->count)
        kernel(a, 1 + chance(t, 9));
    }
  }
  for (int k = 0; k < ARRAYS; ++k) {
    struct array *a = &t->arrays[k];
    while (a->count)
      leave(t, a);
    check_host(a);
    CHECK(!acc_is_present(a->values, sizeof a->values));
  }
  return NULL;
}

int main(int argc, char **argv)
{
  static struct thread threads[THREADS];
  seconds = argc > 1 ? atof(argv[1]) : 3;
  unsigned seed = argc > 2 ? strtoul(argv[2], NULL, 0) : 1;
  clock_gettime(CLOCK_MONOTONIC, &start);
  for (int i = 0; i < N; ++i)
    shared[i] = SHARED;
  acc_init(acc_device_default);
  for (int i = 0; i < THREADS; ++i) {
    threads[i].random = seed * 7919 + i;
    threads[i].number = i;
    CHECK(pthread_create(&threads[i].thread, NULL, work, &threads[i]) == 0);
  }
  long operations = 0;
  for (int i = 0; i < THREADS; ++i) {
    CHECK(pthread_join(threads[i].thread, NULL) == 0);
    operations += threads[i].operations;
  }
  acc_wait_all();
  fprintf(stderr, "%ld operations with seed %u\n", operations, seed);
  CHECK(operations > 0 && !acc_is_present(shared, sizeof shared));
  puts("passed");
  return 0;
}
