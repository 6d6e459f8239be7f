/* Constructs that do not wait, and several host threads at a time, on every device
 * of the program. Kernels reach host memory where the tests need to steer them. */
#include "null_image.h"

#include <omp.h>
#include <unistd.h>

#define SIZE 512
#define THREADS 4
#define ROUNDS 12

static int devices;

/* What a region has copied back is there when it returns, however long it ran. */
static void blocking_regions_are_done(int device)
{
  int values[SIZE] = {0};
#pragma omp target device(device) map(tofrom : values)
  {
    usleep(3000);
    for (int i = 0; i < SIZE; i++)
      values[i] = i;
  }
  for (int i = 0; i < SIZE; i++)
    CHECK(values[i] == i);
#pragma omp target enter data map(alloc : values) device(device)
#pragma omp target device(device)
  {
    usleep(3000);
    values[9] = -9;
  }
#pragma omp target update from(values[9]) device(device)
  CHECK(values[9] == -9);
#pragma omp target exit data map(delete : values) device(device)
}

/* One thread ends a data region while the kernel of another still reads the data:
 * the kernel's own map clause holds them. */
static void data_stay_while_a_kernel_reads_them(int device)
{
  int values[SIZE], sum = 0;
  uint64_t launched = 0, ended = 0;
  uint64_t *const launched_at = &launched, *const ended_at = &ended;
  for (int i = 0; i < SIZE; i++)
    values[i] = 1;
#pragma omp target enter data map(to : values) device(device)
#pragma omp parallel num_threads(2)
  if (omp_get_thread_num() == 0) {
    /* The arguments are on the device, as addresses that are numbers. */
    uintptr_t tell = (uintptr_t)launched_at, wait = (uintptr_t)ended_at;
#pragma omp target device(device) map(to : values) map(from : sum) firstprivate(tell, wait)
    {
      __atomic_store_n((uint64_t *)tell, 1, __ATOMIC_RELEASE);
      for (int i = 0; i < 2000 && !__atomic_load_n((uint64_t *)wait, __ATOMIC_ACQUIRE); i++)
        usleep(100);
      sum = 0;
      for (int i = 0; i < SIZE; i++)
        sum += values[i];
    }
  } else {
    while (!__atomic_load_n(launched_at, __ATOMIC_ACQUIRE))
      usleep(100);
    /* Lets the other thread get from the launch to the end of its construct. */
    usleep(5000);
#pragma omp target exit data map(release : values) device(device)
    __atomic_store_n(ended_at, 1, __ATOMIC_RELEASE);
  }
  CHECK(sum == SIZE);
  CHECK(!omp_target_is_present(values, device));
}

/* Threads map the same array, at times one for all, and each its own. */
static void threads_share_and_do_not(int device)
{
  struct pair {
    int *list;
    int length;
  };
  int shared[SIZE], failures = 0;
  struct pair common = {shared, SIZE};
  for (int i = 0; i < SIZE; i++)
    shared[i] = 3 * i;
#pragma omp parallel num_threads(THREADS) reduction(+ : failures)
  {
    int own[SIZE], me = omp_get_thread_num();
    struct pair pair = {own, SIZE};
    for (int round = 0; round < ROUNDS; round++) {
      for (int i = 0; i < SIZE; i++)
        own[i] = me;
#pragma omp target device(device) map(to : shared) map(tofrom : own) firstprivate(round)
      for (int i = 0; i < SIZE; i++)
        own[i] += shared[i] + round;
      for (int i = 0; i < SIZE; i++)
        failures += own[i] != me + 3 * i + round;
#pragma omp target device(device) map(to : pair, shared) map(tofrom : pair.list[0 : SIZE])
      for (int i = 0; i < pair.length; i++)
        pair.list[i] -= shared[i];
      for (int i = 0; i < SIZE; i++)
        failures += own[i] != me + round;
      /* Whoever comes first maps the structure or the list, and attaches. */
#pragma omp target device(device) map(to : common, common.list[0 : SIZE]) map(tofrom : own)
      for (int i = 0; i < common.length; i++)
        own[i] += common.list[i];
      for (int i = 0; i < SIZE; i++)
        failures += own[i] != me + round + 3 * i;
    }
  }
  CHECK(failures == 0);
  CHECK(!omp_target_is_present(shared, device));
}

/* One thread attaches a pointer inside a structure that another is still copying. */
static void attaching_does_not_interfere(int device)
{
  static struct {
    char before[300000];
    int *list;
  } structure;
  int list[SIZE], values[SIZE];
  structure.list = list;
  for (int i = 0; i < SIZE; i++)
    list[i] = 7 * i;
#pragma omp parallel num_threads(2)
  if (omp_get_thread_num() == 0) {
#pragma omp target enter data device(device) map(to : structure)
  } else {
    usleep(1000);
#pragma omp target enter data device(device) map(to : structure, structure.list[0 : SIZE])
  }
  for (int i = 0; i < SIZE; i++)
    list[i] = 0;
#pragma omp target device(device) map(from : values)
  for (int i = 0; i < SIZE; i++)
    values[i] = structure.list[i];
  for (int i = 0; i < SIZE; i++)
    CHECK(values[i] == 7 * i);
#pragma omp target exit data device(device) map(delete : structure, structure.list[0 : SIZE])
}

/* A chain of tasks over all devices, each of which needs what the one before did. */
static void dependences_order_devices(void)
{
  int values[SIZE], expected = 1;
  for (int i = 0; i < SIZE; i++)
    values[i] = 1;
  for (int step = 0; step < 4 * devices; step++) {
    expected = expected % 1000 * 3 + step;
#pragma omp target nowait device(step % devices) map(tofrom : values) depend(inout : values) \
    firstprivate(step)
    for (int i = 0; i < SIZE; i++)
      values[i] = values[i] % 1000 * 3 + step;
  }
#pragma omp taskwait
  for (int i = 0; i < SIZE; i++)
    CHECK(values[i] == expected);
}

/* Many tasks of one device under way at once, on data mapped by tasks. */
static void many_tasks(int device)
{
  static int values[40][SIZE];
  for (int task = 0; task < 40; task++) {
    int *mine = values[task];
    for (int i = 0; i < SIZE; i++)
      mine[i] = i;
#pragma omp target enter data nowait device(device) map(to : mine[0 : SIZE]) depend(out : mine[0])
#pragma omp target nowait device(device) map(present, alloc : mine[0 : SIZE]) depend(inout : mine[0]) \
    firstprivate(task)
    for (int i = 0; i < SIZE; i++)
      mine[i] += task;
#pragma omp target update nowait device(device) from(mine[0 : SIZE / 2]) depend(inout : mine[0])
#pragma omp target exit data nowait device(device) map(delete : mine[0 : SIZE]) depend(inout : mine[0])
  }
#pragma omp taskwait
  for (int task = 0; task < 40; task++)
    for (int i = 0; i < SIZE; i++)
      CHECK(values[task][i] == (i < SIZE / 2 ? i + task : i));
}

/* Kernels of all devices run at the same time: each waits for all. */
static void devices_run_together(void)
{
  uint64_t arrived = 0;
  uintptr_t at = (uintptr_t)&arrived;
  int all = devices;
  for (int device = 0; device < devices; device++) {
#pragma omp target nowait device(device) firstprivate(at, all)
    {
      __atomic_fetch_add((uint64_t *)at, 1, __ATOMIC_ACQ_REL);
      while (__atomic_load_n((uint64_t *)at, __ATOMIC_ACQUIRE) < (uint64_t)all)
        usleep(100);
    }
  }
#pragma omp taskwait
  CHECK(arrived == (uint64_t)devices);
}

/* The asynchronous memory routines, in an order given by depend objects. */
static void memory_routines(int source, int target)
{
  const int host = omp_get_initial_device();
  int values[SIZE], back[SIZE];
  for (int i = 0; i < SIZE; i++)
    values[i] = 5 * i;
  char *one = omp_target_alloc(sizeof values, source), *two = omp_target_alloc(sizeof values, target);
  omp_depend_t order;
#pragma omp depobj(order) depend(inout : back)
  CHECK(omp_target_memcpy_async(one, values, sizeof values, 0, 0, source, host, 1, &order) == 0);
  CHECK(omp_target_memcpy_async(two, one, sizeof values, 0, 0, target, source, 1, &order) == 0);
  omp_target_memset_async(two, 0, 8, target, 1, &order);
  CHECK(omp_target_memcpy_async(back, two, sizeof values, 0, 0, host, target, 1, &order) == 0);
#pragma omp taskwait depend(inout : back)
#pragma omp depobj(order) destroy
  for (int i = 0; i < SIZE; i++)
    CHECK(back[i] == (i < 2 ? 0 : 5 * i));
  omp_target_free(one, source);
  omp_target_free(two, target);
}

int main(int argc, char **argv)
{
  (void)argv;
  devices = omp_get_num_devices();
  for (int device = 0; device < devices; device++) {
    blocking_regions_are_done(device);
    data_stay_while_a_kernel_reads_them(device);
    threads_share_and_do_not(device);
    attaching_does_not_interfere(device);
    many_tasks(device);
    memory_routines(device, (device + 1) % devices);
  }
  dependences_order_devices();
  /* Takes a helper thread for each synchronous device. */
  if (argc == 1)
    devices_run_together();
  printf("done on %d devices\n", devices);
  return 0;
}
