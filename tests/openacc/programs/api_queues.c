// environment: GANGWAY_VGPU_DEVICES=2
// options: -pthread
// The routines for queues: what is waited for, on which device, and the thread's default queue. Each kernel counts long
// enough that a queue which nobody waits for is found at work.
#include <openacc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define N 4096
#define CHECK(what) \
  if (!(what)) return printf("line %d: " #what "\n", __LINE__), 1

static int *list;
static int on_host;

// Adds one to each element, slowly, in a queue.
static void add(int queue) {
#pragma acc parallel loop present(list[0 : N]) async(queue)
  for (int i = 0; i < N; i++) {
    int steps = 0;
    for (int k = 0; k < 2000; k++) steps += (k ^ i) & 1;
    // Of two queues, as `order` and `any` have them.
#pragma acc atomic
    list[i] += steps == 1000;
  }
}

static int has(int value) {
  for (int i = 0; i < N; i++)
    if (list[i] != value) return 0;
  return 1;
}

static int default_queue(void) {
  CHECK(acc_get_default_async() == acc_async_default);
  acc_set_default_async(7);
  CHECK(acc_get_default_async() == 7);
  acc_set_default_async(acc_async_noval);
  CHECK(acc_get_default_async() == 7);
  // The queue of `async` without an argument is 7 now.
  add(acc_async_noval);
#pragma acc update self(list[0 : N]) async(7)
  acc_wait(7);
  CHECK(has(1) && acc_async_test(7) && acc_async_test(acc_async_noval));
#pragma acc parallel loop present(list[0 : N]) async
  for (int i = 0; i < N; i++) list[i]++;
#pragma acc update self(list[0 : N]) async
#pragma acc wait(7)
  CHECK(has(2));
#pragma acc set default_async(9)
  CHECK(acc_get_default_async() == 9);
  add(9);
  acc_update_self_async(list, N * sizeof *list, acc_async_noval);
  acc_wait(acc_async_noval);
  CHECK(has(3));
  // The end of the construct is in the queue of its beginning.
#pragma acc data copy(list[0 : N]) async
  {
    acc_set_default_async(11);
    add(9);
  }
  acc_wait(9);
  acc_update_self(list, N * sizeof *list);
  CHECK(has(4));
#pragma acc set default_async(acc_async_sync)
  CHECK(acc_get_default_async() == acc_async_sync);
  add(acc_async_noval);
#pragma acc update self(list[0 : N]) async
  CHECK(has(5));
#pragma acc set default_async(11) if (list == 0)
  CHECK(acc_get_default_async() == acc_async_sync);
  int kept = acc_get_default_async();
  acc_set_default_async(acc_async_default);
  CHECK(acc_get_default_async() == acc_async_default);
  // That is the queue of no number.
  add(acc_async_noval);
  acc_update_self_async(list, N * sizeof *list, acc_async_default);
  acc_wait(acc_async_default);
  CHECK(has(6));
  acc_set_default_async(kept);
  CHECK(acc_get_default_async() == acc_async_sync);
  acc_set_default_async(acc_async_default);
  return 0;
}

static void *in_thread(void *argument) {
  int *found = argument;
  *found = acc_get_default_async();
  acc_set_default_async(3);
  add(acc_async_noval);
#pragma acc wait(3)
  return 0;
}

static int threads(void) {
  int found = 0;
  pthread_t thread;
  acc_set_default_async(5);
  pthread_create(&thread, 0, in_thread, &found);
  pthread_join(thread, 0);
  CHECK(found == acc_async_default && acc_get_default_async() == 5);
  acc_update_self(list, N * sizeof *list);
  CHECK(has(7));
  acc_set_default_async(acc_async_default);
  return 0;
}

static int order(void) {
  add(1);
  add(2);
  // 3 waits for both, 4 for all.
  acc_wait_async(1, 3);
  acc_wait_async(2, 3);
  acc_update_self_async(list, N * sizeof *list, 3);
  acc_wait_all_async(4);
  add(4);
  acc_wait(3);
  CHECK(acc_async_test(3) && acc_async_test(1) && acc_async_test(2));
  acc_async_wait_all();
  CHECK(acc_async_test_all());
  acc_update_self(list, N * sizeof *list);
  CHECK(has(10));
  acc_wait_all_async(acc_async_sync);
  acc_wait_async(4, acc_async_sync);
  acc_wait_async(acc_async_sync, 4);
  acc_async_wait(acc_async_sync);
  return 0;
}

static int any(void) {
  int none[] = {acc_async_sync, acc_async_sync}, some[] = {acc_async_sync, 21, 22}, one[] = {23};
  CHECK(acc_wait_any(0, 0) == -1 && acc_wait_any(2, none) == -1);
  add(21);
  add(22);
  int index = acc_wait_any(3, some);
  CHECK(index == 1 || index == 2);
  CHECK(acc_async_test(some[index]));
  add(23);
  CHECK(acc_wait_any(1, one) == 0 && acc_async_test(23));
  CHECK(acc_wait_any_device(3, some, acc_get_device_num(acc_get_device_type())) > 0);
  acc_wait_all();
  return 0;
}

// Queues of another device, by its number.
static int devices(void) {
  if (on_host) {
    acc_wait_device(1, 0);
    acc_wait_all_device(0);
    acc_wait_device_async(1, 2, 0);
    acc_wait_all_device_async(2, 0);
#pragma acc wait(devnum : 0 : queues : 1, 2)
    CHECK(acc_async_test_device(1, 0) && acc_async_test_all_device(0));
    return 0;
  }
  acc_device_t type = acc_get_device_type();
  CHECK(acc_get_num_devices(type) == 2);
  int *before = list;
  acc_set_device_num(1, type);
  list = calloc(N, sizeof *list);
  acc_copyin(list, N * sizeof *list);
  add(1);
  add(2);
  acc_update_self_async(list, N * sizeof *list, 2);
  acc_set_device_num(0, type);
  acc_wait_device(2, 1);
  acc_wait_device(1, 1);
  CHECK(acc_async_test_device(2, 1) && acc_async_test_device(1, 1) && acc_async_test_all_device(1));
  CHECK(list[0] == 1 || list[0] == 2);
  acc_set_device_num(1, type);
  add(1);
  acc_update_self_async(list, N * sizeof *list, 1);
  acc_set_device_num(0, type);
  acc_wait_all_device(1);
  CHECK(has(3));
  // Queue 5 of this device comes behind queues of the other one.
  acc_set_device_num(1, type);
  add(1);
  acc_update_self_async(list, N * sizeof *list, 1);
  acc_set_device_num(0, type);
  acc_wait_device_async(1, 5, 1);
  acc_wait_all_device_async(5, 1);
  acc_wait(5);
  CHECK(has(4));
  // The directive, with other spellings.
  int d = 0;
  acc_set_device_num(1, type);
  add(6);
  acc_update_self_async(list, N * sizeof *list, 6);
  acc_set_device_num(0, type);
#pragma acc wait(devnum : d ? 0 : 1 : queues : 6)
  CHECK(has(5));
  acc_set_device_num(1, type);
  add(6);
  acc_update_self_async(list, N * sizeof *list, 6);
  acc_set_device_num(0, type);
#pragma acc wait(devnum : 1 : 6, 7) async(8)
#pragma acc wait(8)
  CHECK(has(6));
  acc_set_device_num(1, type);
  add(6);
  acc_copyout_async(list, N * sizeof *list, 6);
  acc_set_device_num(0, type);
#pragma acc parallel num_gangs(1) wait(devnum : 1 : queues : 6)
  ;
  CHECK(has(7));
  free(list);
  list = before;
  return 0;
}

// Streams of CUDA's: queue 31 uses the one of queue 30.
static int streams(void) {
  add(30);
  if (acc_get_device_type() == acc_device_radeon) return 0;
  if (on_host) {
    CHECK(!acc_get_cuda_stream(30) && !acc_get_current_cuda_device() && !acc_get_current_cuda_context());
    CHECK(acc_set_cuda_stream(31, list) != 1);
    acc_update_self(list, N * sizeof *list);
    return 0;
  }
  CHECK(acc_get_current_cuda_device() && acc_get_current_cuda_context());
  void *stream = acc_get_cuda_stream(30);
  CHECK(stream && !acc_get_cuda_stream(31) && !acc_get_cuda_stream(acc_async_sync) && !acc_get_cuda_stream(-9));
  CHECK(acc_set_cuda_stream(31, stream) == 1 && acc_get_cuda_stream(31) == stream);
  CHECK(!acc_set_cuda_stream(31, 0) && !acc_set_cuda_stream(-9, stream));
  add(31);
  acc_update_self_async(list, N * sizeof *list, 31);
  acc_wait(30);
  acc_wait(31);
  return 0;
}

int main(void) {
  on_host = acc_get_device_type() == acc_device_host;
  list = calloc(N, sizeof *list);
#pragma acc enter data copyin(list[0 : N])
  if (default_queue() || threads() || order() || any() || devices() || streams()) return 1;
#pragma acc exit data delete(list[0 : N])
  free(list);
  puts("ok");
  return 0;
}
