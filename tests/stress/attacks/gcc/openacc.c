// OpenACC: eight threads run compute constructs, data directives and routines by chance, in queues that all of them use,
// on two devices. Each thread has arrays of its own, all elements of which are equal, and a model of what the host and the
// device have of each. An array's operations go into one queue, and now and then into another one, behind the first. All
// threads read a shared array, which comes and goes.
#include "stress.h"
#include <openacc.h>
#include <pthread.h>

enum { ARRAYS = 4, QUEUES = 5, N = 64, SHARED = 1000 };

struct array {
  int values[N];
  int host, device, count, queue;
};

struct thread {
  pthread_t thread;
  Random random;
  int number;
  struct array arrays[ARRAYS];
};

static int shared[N];

static int chance(struct thread *t, int limit) { return (int)below(&t->random, (uint32_t)limit); }

static void check_host(struct array *a)
{
  acc_wait(a->queue);
  for (int i = 0; i < N; ++i)
    if (a->values[i] != a->host) fail("element %d is %d instead of %d", i, a->values[i], a->host);
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
  acc_set_device_num(t->number % acc_get_num_devices(acc_device_nvidia), acc_device_nvidia);
  for (int k = 0; k < ARRAYS; ++k) {
    t->arrays[k].queue = chance(t, QUEUES);
    set_host(&t->arrays[k], k);
  }
  while (!stress_over()) {
    struct array *a = &t->arrays[chance(t, ARRAYS)];
    stress_calls++;
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
    if (acc_is_present(a->values, sizeof a->values)) fail("an array is present after its last exit data");
  }
  return NULL;
}

int main(int argc, char **argv)
{
  static struct thread threads[THREADS];
  stress_start(argc, argv);
  for (int i = 0; i < N; ++i)
    shared[i] = SHARED;
  acc_init(acc_device_nvidia);
  for (int i = 0; i < THREADS; ++i) {
    threads[i].random = random_of((uint64_t)i);
    threads[i].number = i;
    if (pthread_create(&threads[i].thread, NULL, work, &threads[i])) fail("a thread cannot be started");
  }
  for (int i = 0; i < THREADS; ++i)
    pthread_join(threads[i].thread, NULL);
  for (int device = 0; device < acc_get_num_devices(acc_device_nvidia); ++device) {
    acc_set_device_num(device, acc_device_nvidia);
    acc_wait_all();
    if (acc_is_present(shared, sizeof shared)) fail("the shared array is still on device %d", device);
  }
  stress_report();
  return 0;
}
