// environment: GANGWAY_VGPU_DEVICES=2
// options: -pthread
// The routines for memory and data.
#include <openacc.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N 1000
#define BYTES (N * sizeof(int))
#define CHECK(what) \
  if (!(what)) return printf("line %d: " #what "\n", __LINE__), 1

static int on_host;

static void fill(int *list, int first) {
  for (int i = 0; i < N; i++) list[i] = first + i;
}

static int is_filled(const int *list, int first) {
  for (int i = 0; i < N; i++)
    if (list[i] != first + i) return 0;
  return 1;
}

static int copies(void) {
  int a[N], b[N];
  int *device = acc_malloc(BYTES), *other = acc_malloc(BYTES);
  CHECK(device && other && !acc_malloc(0));
  fill(a, 5);
  acc_memcpy_to_device(device, a, BYTES);
  acc_memcpy_device(other, device, BYTES);
  memset(b, 0, sizeof b);
  acc_memcpy_from_device(b, other, BYTES);
  CHECK(is_filled(b, 5));
  fill(a, 50);
  acc_memcpy_to_device_async(device, a, BYTES, 1);
  acc_memcpy_device_async(other, device, BYTES, 1);
  acc_memcpy_from_device_async(b, other, BYTES, 1);
  acc_wait(1);
  CHECK(is_filled(b, 50));
#pragma acc parallel loop deviceptr(device)
  for (int i = 0; i < N; i++) device[i] += 7;
  acc_memcpy_from_device(b, device, BYTES);
  CHECK(is_filled(b, 57));
  // No bytes are copied from nowhere.
  acc_memcpy_to_device(0, 0, 0);
  acc_memcpy_from_device(0, 0, 0);
  acc_memcpy_device(0, 0, 0);
  acc_memcpy_device(device, device, BYTES);
  acc_free(device);
  acc_free(other);
  acc_free(0);
  return 0;
}

static int between_devices(void) {
  int a[N], b[N];
  int last = acc_get_num_devices(acc_get_device_type()) - 1;
  fill(a, 3);
  fill(b, 0);
  acc_set_device_num(last, acc_device_current);
  acc_copyin(b, BYTES);
  acc_set_device_num(0, acc_device_current);
  acc_copyin(a, BYTES);
  // The addresses are the host's: its own copies are left alone, unless it is the device.
  acc_memcpy_d2d(b, a, BYTES, last, 0);
  CHECK(is_filled(b, on_host ? 3 : 0));
  acc_set_device_num(last, acc_device_current);
  acc_update_self(b, BYTES);
  CHECK(is_filled(b, 3));
  // A part, in a queue of the device that it comes from.
  fill(a, 30);
  acc_set_device_num(0, acc_device_current);
  acc_update_device_async(a, BYTES, 4);
  acc_memcpy_d2d_async(b + 10, a + 10, 20 * sizeof(int), last, 0, 4);
  acc_wait(4);
  acc_set_device_num(last, acc_device_current);
  acc_update_self(b, BYTES);
  CHECK(b[9] == 12 && b[10] == 40 && b[29] == 59 && b[30] == 33);
  acc_set_device_num(0, acc_device_current);
  // On one device, and nothing at all.
  acc_copyin(b, BYTES);
  fill(a, 90);
  acc_update_device(a, BYTES);
  acc_memcpy_d2d(b, a, BYTES, 0, 0);
  acc_memcpy_d2d(a, a, BYTES, 0, 0);
  acc_memcpy_d2d(0, 0, 0, 0, 0);
  acc_copyout(b, BYTES);
  CHECK(is_filled(b, 90));
  acc_delete(a, BYTES);
  acc_set_device_num(last, acc_device_current);
  acc_delete(b, BYTES);
  acc_set_device_num(0, acc_device_current);
  return 0;
}

static int references(void) {
  int list[N];
  fill(list, 0);
  int *device = acc_copyin(list, BYTES);
  CHECK(device && (device == list) == on_host);
  CHECK(acc_copyin(list, BYTES) == device && acc_pcopyin(list + 3, 8) == device + 3);
  CHECK(acc_create(list, BYTES) == device && acc_present_or_create(list, BYTES) == device);
  CHECK(acc_pcreate(list, BYTES) == device && acc_present_or_copyin(list, BYTES) == device);
  acc_delete(list, BYTES);
  acc_delete(list, BYTES);
  CHECK(acc_deviceptr(list + 5) == device + 5 && acc_hostptr(device + 5) == list + 5);
#pragma acc parallel loop present(list)
  for (int i = 0; i < N; i++) list[i] += 2;
  // Five references: four ends leave it there, and copy nothing.
  acc_delete(list, BYTES);
  acc_copyout(list, BYTES);
  acc_delete_async(list, BYTES, 2);
  acc_copyout_async(list, BYTES, 2);
  acc_wait(2);
  CHECK(acc_is_present(list, BYTES) && is_filled(list, on_host ? 2 : 0));
  acc_copyout_async(list, BYTES, 2);
  acc_wait(2);
  CHECK(is_filled(list, 2) && acc_is_present(list, BYTES) == on_host);
  for (int times = 0; times < 3; times++) acc_create(list, BYTES);
  acc_delete_finalize(list, BYTES);
  CHECK(acc_is_present(list, BYTES) == on_host);
  acc_create_async(list, BYTES, 2);
  acc_copyin_async(list, BYTES, 2);
  acc_update_device_async(list, BYTES, 2);
#pragma acc parallel loop present(list) async(2)
  for (int i = 0; i < N; i++) list[i] += 2;
  acc_copyout_finalize_async(list, BYTES, 2);
  acc_wait(2);
  CHECK(is_filled(list, 4) && acc_is_present(list, BYTES) == on_host);
  acc_copyin(list, BYTES);
  acc_delete_finalize_async(list, BYTES, 2);
  acc_wait(2);
  acc_copyin(list, BYTES);
  acc_copyout_finalize(list, BYTES);
  // What is not there is left alone.
  acc_delete(list, BYTES);
  acc_copyout(list, BYTES);
  CHECK(is_filled(list, 4));
  return 0;
}

// No bytes give nothing up, and null is nothing that could be given up.
static int no_bytes(void) {
  int list[N];
  CHECK(acc_is_present(0, 0) && acc_is_present(list, 0) == on_host && !acc_is_present(0, 4));
  CHECK(!acc_copyin(0, 0) && !acc_create(0, 0) && !acc_deviceptr(0) && !acc_hostptr(0));
  acc_copyout(0, 0), acc_delete(0, 0), acc_update_self(0, 0), acc_update_device(0, 0);
  acc_copyout(0, 8), acc_delete_finalize(0, 8), acc_update_self(0, 8), acc_update_device_async(0, 8, 1);
  acc_create(list, BYTES);
  acc_delete(list, 0), acc_delete_finalize(list + 4, 0), acc_copyout(list, 0), acc_copyout_finalize_async(list + 4, 0, 1);
  CHECK(acc_is_present(list + 4, 0) && acc_is_present(list, BYTES) && acc_is_present(list, BYTES + 1) == on_host);
  acc_delete(list, BYTES);
  return 0;
}

static int mapped(void) {
  if (on_host) return 0;
  int list[N];
  fill(list, 1);
  int *device = acc_malloc(BYTES);
  acc_map_data(list, device, BYTES);
  CHECK(acc_is_present(list, BYTES) && acc_deviceptr(list) == device && acc_hostptr(device) == list);
  acc_update_device(list, BYTES);
  // Neither constructs nor routines end it.
#pragma acc parallel loop copy(list)
  for (int i = 0; i < N; i++) list[i]++;
  CHECK(is_filled(list, 1));
  acc_copyin(list, BYTES);
  acc_delete(list, BYTES);
  acc_delete_finalize(list, BYTES);
  CHECK(acc_is_present(list, BYTES));
  acc_update_self(list, BYTES);
  CHECK(is_filled(list, 2));
  acc_unmap_data(list);
  CHECK(!acc_is_present(list, BYTES) && !acc_hostptr(device));
  acc_free(device);
  return 0;
}

struct node {
  int count;
  int *values;
};

static int attached(void) {
  int values[N], others[N];
  struct node node = {N, values};
  fill(values, 1);
  fill(others, 100);
  // Nothing to do: neither is present.
  acc_attach((void **)&node.values);
  acc_detach((void **)&node.values);
  acc_copyin(&node, sizeof node);
  acc_attach((void **)&node.values);
  acc_copyin(values, BYTES);
  acc_copyin(others, BYTES);
  acc_attach((void **)&node.values);
  acc_attach_async((void **)&node.values, 1);
  acc_wait(1);
#pragma acc parallel loop present(node)
  for (int i = 0; i < node.count; i++) node.values[i]++;
  acc_update_self(values, BYTES);
  CHECK(is_filled(values, 2));
  // Counted twice: it stays attached after the first time.
  acc_detach((void **)&node.values);
#pragma acc parallel loop present(node)
  for (int i = 0; i < node.count; i++) node.values[i]++;
  acc_detach_async((void **)&node.values, 1);
  acc_wait(1);
  acc_update_self(values, BYTES);
  CHECK(is_filled(values, 3));
  // Once more than it was attached, which is nothing.
  acc_detach((void **)&node.values);
  node.values = others;
  acc_attach((void **)&node.values);
  acc_attach((void **)&node.values);
#pragma acc parallel loop present(node)
  for (int i = 0; i < N; i++) node.values[i]++;
  acc_detach_finalize((void **)&node.values);
  acc_attach((void **)&node.values);
  acc_detach_finalize_async((void **)&node.values, 1);
  acc_wait(1);
  acc_update_self(others, BYTES);
  CHECK(is_filled(others, 101) && node.values == others);
  node.values = 0;
  acc_attach((void **)&node.values);
  acc_delete(others, BYTES);
  acc_delete(values, BYTES);
  acc_delete(&node, sizeof node);
  return 0;
}

// Threads share what is present.
static int shared[N];

static void *give_up(void *argument) {
  (void)argument;
  acc_copyout(shared, BYTES);
  return 0;
}

static void *count(void *argument) {
  for (int times = 0; times < 200; times++) {
    acc_copyin(argument, BYTES);
    acc_delete(argument, BYTES);
  }
  return 0;
}

static int threads(void) {
  pthread_t some[4];
  fill(shared, 0);
  acc_copyin(shared, BYTES);
#pragma acc parallel loop present(shared)
  for (int i = 0; i < N; i++) shared[i] += 9;
  for (int i = 0; i < 4; i++) pthread_create(&some[i], 0, count, shared);
  for (int i = 0; i < 4; i++) pthread_join(some[i], 0);
  CHECK(acc_is_present(shared, BYTES));
  // A thread that has not used the device yet.
  pthread_create(&some[0], 0, give_up, 0);
  pthread_join(some[0], 0);
  CHECK(is_filled(shared, 9) && acc_is_present(shared, BYTES) == on_host);
  return 0;
}

int main(void) {
  on_host = acc_get_device_type() == acc_device_host;
  if (copies() || between_devices() || references() || no_bytes() || mapped() || attached() || threads()) return 1;
  puts("ok");
  return 0;
}
