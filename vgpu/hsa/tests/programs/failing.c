// Kernels that fail or never end: who is told, and what still works.
#include "kernels.h"

#include <unistd.h>

static hsa_status_t told;
static hsa_signal_t telling;
static hsa_amd_event_t event;
static _Atomic int events;

static void callback(hsa_status_t status, hsa_queue_t *queue, void *data) {
  CHECK(queue && data == &told);
  told = status;
  hsa_signal_store_screlease(telling, 0);
}

static hsa_status_t handler(const hsa_amd_event_t *happened, void *data) {
  CHECK(data == &events);
  event = *happened;
  atomic_fetch_add(&events, 1);
  return SUCCESS;
}

static void fails(const char *name, const void *arguments, size_t size, hsa_status_t status) {
  hsa_queue_t *queue;
  OK(hsa_queue_create(gpu, 64, 0, callback, &told, 0, 0, &queue));
  telling = new_signal(1);
  hsa_signal_t end = new_signal(1);
  void *block = arguments_memory(64);
  memcpy(block, arguments, size);
  hsa_kernel_dispatch_packet_t packet = kernel(code[0], name, 128, block, end);
  submit(queue, &packet);
  wait_for(telling);
  if (told != status) fprintf(stderr, "%s: %#x instead of %#x\n", name, told, status);
  CHECK(told == status);
  // Whoever waits for the kernel sees that it has failed.
  CHECK(hsa_signal_wait_scacquire(end, LT, 1, 60000000000, 0) < 0);
  OK(hsa_queue_destroy(queue));
  OK(hsa_memory_free(block));
  OK(hsa_signal_destroy(end));
  OK(hsa_signal_destroy(telling));
}

static hsa_signal_t awaited;

static void waits(hsa_status_t status, hsa_queue_t *queue, void *data) {
  CHECK(hsa_signal_wait_scacquire(awaited, LT, 1, UINT64_MAX, 0) == 0);
  hsa_signal_store_screlease(telling, 0);
}

// A callback that waits for those who wait for the kernel, as that of libgomp's plugin.
static void waiting_callback(void) {
  hsa_queue_t *queue;
  OK(hsa_queue_create(gpu, 64, 0, waits, NULL, 0, 0, &queue));
  telling = new_signal(1);
  awaited = new_signal(1);
  int **block = arguments_memory(64);
  *block = NULL;
  hsa_kernel_dispatch_packet_t packet = kernel(code[0], "wild", 128, block, awaited);
  submit(queue, &packet);
  wait_for(telling);
  OK(hsa_queue_destroy(queue));
  OK(hsa_memory_free(block));
  OK(hsa_signal_destroy(awaited));
  OK(hsa_signal_destroy(telling));
}

static void endless(int how) {
  hsa_queue_t *queue;
  OK(hsa_queue_create(gpu, 64, 0, callback, &told, 0, 0, &queue));
  hsa_signal_t end = new_signal(1);
  int *out = device_memory(4), **block = arguments_memory(64), first, later;
  *block = out;
  // What it had before would look like a kernel that runs.
  OK(hsa_amd_memory_fill(out, 0, 1));
  hsa_kernel_dispatch_packet_t packet = kernel(code[0], "forever", 64, block, end);
  submit(queue, &packet);
  do OK(hsa_memory_copy(&first, out, 4));
  while (first == 0);
  told = 0;
  // The code goes, but not under the kernel.
  if (how == 1) OK(hsa_executable_destroy(code[0]));
  if (how == 2) OK(hsa_queue_inactivate(queue));
  OK(hsa_queue_destroy(queue));
  OK(hsa_memory_copy(&first, out, 4));
  usleep(5000);
  OK(hsa_memory_copy(&later, out, 4));
  CHECK(first == later && told == 0 && hsa_signal_load_relaxed(end) == 1);
  OK(hsa_memory_free(out));
  OK(hsa_memory_free(block));
  if (how == 1) code[0] = load(gpu);
}

int main(void) {
  start();
  code[0] = load(gpu);
  OK(hsa_amd_register_system_event_handler(handler, &events));
  ANSWERS(INVALID_ARGUMENT, hsa_amd_register_system_event_handler(NULL, NULL));
  int *memory = device_memory(400), own[4];
  struct { int *out; int at; } wild = {memory, 100};
  fails("wild", &wild, sizeof wild, MEMORY_FAULT);
  CHECK(events == 1 && event.type == 0 && event.agent.handle == gpu.handle);
  CHECK(event.virtual_address == (uint64_t)(uintptr_t)(memory + 100) && event.reasons == 1);
  // Memory of the host that is not locked.
  wild.out = own, wild.at = 0;
  fails("wild", &wild, sizeof wild, MEMORY_FAULT);
  CHECK(events == 2 && event.virtual_address == (uint64_t)(uintptr_t)own && event.reasons == 8);
  wild.out = NULL;
  fails("wild", &wild, sizeof wild, MEMORY_FAULT);
  // Each of its work-items writes: there is room for all of them, or another wave's fault would be told.
  int *room = device_memory(128 * sizeof(int));
  fails("trap", &room, sizeof room, EXCEPTION);
  OK(hsa_memory_free(room));
  CHECK(events == 3);
  waiting_callback();
  for (int how = 0; how < 3; ++how) endless(how);
  // Another queue works as ever.
  hsa_queue_t *queue;
  OK(hsa_queue_create(gpu, 64, 0, callback, &told, 0, 0, &queue));
  struct { int *total; int by; } arguments = {memory, 3};
  OK(hsa_amd_memory_fill(memory, 0, 1));
  run(queue, code[0], "count", 64, &arguments, sizeof arguments);
  OK(hsa_memory_copy(own, memory, 4));
  CHECK(own[0] == 64 * 3);
  // It ends with a kernel that runs for ever.
  void *out = memory;
  void **block = arguments_memory(64);
  *block = out;
  hsa_kernel_dispatch_packet_t packet = kernel(code[0], "forever", 64, block, (hsa_signal_t){0});
  submit(queue, &packet);
  usleep(5000);
  OK(hsa_shut_down());
  return 0;
}
