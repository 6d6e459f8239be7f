// Kernels of clang's: what they compute, several queues and devices, eight threads.
#include "kernels.h"

#include <math.h>
#include <pthread.h>

static hsa_queue_t *queue;

static void saxpy(void) {
  enum { N = 1000 };
  float *x = device_memory(N * 4), *y = device_memory(N * 4), host[N], back[N];
  for (int at = 0; at < N; ++at) host[at] = (float)at;
  OK(hsa_memory_copy(x, host, sizeof host));
  OK(hsa_memory_copy(y, host, sizeof host));
  struct { float *y, *x; float a; int n; } arguments = {y, x, 2.5f, N};
  run(queue, code[0], "saxpy", 1024, &arguments, sizeof arguments);
  OK(hsa_memory_copy(back, y, sizeof back));
  for (int at = 0; at < N; ++at) CHECK(back[at] == 2.5f * host[at] + host[at]);
  OK(hsa_memory_free(x));
  OK(hsa_memory_free(y));
}

static void reduce(void) {
  enum { GROUPS = 20 };
  int *values = device_memory(GROUPS * 256), *sums = device_memory(GROUPS * 4), host[GROUPS * 64], back[GROUPS];
  for (int at = 0; at < GROUPS * 64; ++at) host[at] = at % 97;
  OK(hsa_memory_copy(values, host, sizeof host));
  void *arguments[] = {sums, values};
  run(queue, code[0], "reduce", GROUPS * 64, arguments, sizeof arguments);
  OK(hsa_memory_copy(back, sums, sizeof back));
  for (int group = 0; group < GROUPS; ++group) {
    int wanted = 0;
    for (int at = 0; at < 64; ++at) wanted += host[group * 64 + at];
    CHECK(back[group] == wanted);
  }
  OK(hsa_memory_free(values));
  OK(hsa_memory_free(sums));
}

static void stack(void) {
  int order[32], back[128], *device_order = device_memory(sizeof order), *out = device_memory(sizeof back);
  for (int at = 0; at < 32; ++at) order[at] = 31 - at;
  OK(hsa_memory_copy(device_order, order, sizeof order));
  void *arguments[] = {out, device_order};
  run(queue, code[0], "stack", 128, arguments, sizeof arguments);
  OK(hsa_memory_copy(back, out, sizeof back));
  for (int at = 0; at < 128; ++at) CHECK(back[at] == at * 31 * 16);
  OK(hsa_memory_free(device_order));
  OK(hsa_memory_free(out));
}

static void variables(void) {
  int back[2], *out = device_memory(sizeof back), value = 40;
  void *arguments[] = {out};
  run(queue, code[0], "variables", 1, arguments, sizeof arguments);
  OK(hsa_memory_copy(back, out, sizeof back));
  CHECK(back[0] == 6 + 4 && back[1] == -1);
  // The host writes the variable, and each agent has its own.
  hsa_executable_symbol_t symbol;
  int *address;
  OK(hsa_executable_get_symbol_by_name(code[0], "counter", &gpu, &symbol));
  OK(hsa_executable_symbol_get_info(symbol, 21, &address));
  OK(hsa_memory_copy(address, &value, sizeof value));
  run(queue, code[0], "variables", 1, arguments, sizeof arguments);
  OK(hsa_memory_copy(back, out, sizeof back));
  CHECK(back[0] == 41 + 4);
  OK(hsa_memory_free(out));
}

static void three_dimensions(void) {
  int back[4 * 6 * 8], *out = device_memory(sizeof back);
  OK(hsa_amd_memory_fill(out, 0, sizeof back / 4));
  hsa_signal_t end = new_signal(1);
  void **block = arguments_memory(64);
  *block = out;
  hsa_kernel_dispatch_packet_t packet = kernel(code[0], "place", 0, block, end);
  packet.setup = 3;
  packet.workgroup_size_x = 4, packet.workgroup_size_y = 2, packet.workgroup_size_z = 2;
  packet.grid_size_x = 7, packet.grid_size_y = 5, packet.grid_size_z = 3;
  submit(queue, &packet);
  wait_for(end);
  OK(hsa_memory_copy(back, out, sizeof back));
  for (int z = 0; z < 4; ++z)
    for (int y = 0; y < 6; ++y)
      for (int x = 0; x < 8; ++x)
        CHECK(back[(z * 6 + y) * 8 + x] == (x < 7 && y < 5 && z < 3 ? x + 10 * y + 100 * z : 0));
  OK(hsa_memory_free(out));
  OK(hsa_memory_free(block));
  OK(hsa_signal_destroy(end));
}

static void registers(void) {
  int64_t back[3], *out = device_memory(sizeof back), **block = arguments_memory(64);
  *block = out;
  hsa_signal_t end = new_signal(1);
  hsa_kernel_dispatch_packet_t packet = kernel(code[0], "packet", 64, block, end);
  submit(queue, &packet);
  wait_for(end);
  OK(hsa_memory_copy(back, out, sizeof back));
  CHECK(back[0] == 64 && back[1] == (int64_t)(intptr_t)block && back[2] == (int64_t)(intptr_t)queue);
  OK(hsa_memory_free(out));
  OK(hsa_memory_free(block));
  // A kernel's clock is the system's.
  uint64_t tick, *times = device_memory(8), before, after, system;
  void *arguments[] = {times};
  OK(hsa_system_get_info(2, &before));
  run(queue, code[0], "times", 1, arguments, sizeof arguments);
  OK(hsa_system_get_info(2, &after));
  OK(hsa_memory_copy(&tick, times, sizeof tick));
  OK(hsa_amd_profiling_convert_tick_to_system_domain(gpu, tick, &system));
  CHECK(before - 1000 <= system && system <= after + 1000);
  OK(hsa_memory_free(times));
  OK(hsa_signal_destroy(end));
}

// A kernel waits for the host, and tells it by a signal's memory. Locked memory of the program's.
static void host_memory(void) {
  int64_t flag[2] = {0}, *seen;
  hsa_signal_t answer = new_signal(1), end = new_signal(1);
  volatile int64_t *place;
  OK(hsa_amd_memory_lock(flag, sizeof flag, &gpu, 1, (void **)&seen));
  OK(hsa_amd_signal_value_pointer(answer, &place));
  void **block = arguments_memory(64);
  block[0] = seen, block[1] = (void *)place;
  hsa_kernel_dispatch_packet_t packet = kernel(code[0], "wait", 1, block, end);
  submit(queue, &packet);
  CHECK(hsa_signal_wait_scacquire(answer, LT, 1, 20000000, 0) == 1);
  atomic_store((_Atomic int64_t *)flag, 1);
  wait_for(answer);
  wait_for(end);
  OK(hsa_amd_memory_unlock(flag));
  OK(hsa_memory_free(block));
  OK(hsa_signal_destroy(answer));
  OK(hsa_signal_destroy(end));
}

static uint32_t *total;

// Each has a queue; all add to one number.
static void *worker(void *data) {
  intptr_t me = (intptr_t)data;
  hsa_queue_t *own;
  OK(hsa_queue_create(me % 2 ? second_gpu : gpu, 64, 0, NULL, NULL, 0, 0, &own));
  struct { uint32_t *total; int by; } arguments = {total, (int)me + 1};
  for (int round = 0; round < 20; ++round) run(own, code[me % 2], "count", 100, &arguments, sizeof arguments);
  OK(hsa_queue_destroy(own));
  return NULL;
}

static void threads(void) {
  total = device_memory(4);
  uint32_t zero = 0, sum;
  OK(hsa_memory_copy(total, &zero, 4));
  OK(hsa_amd_agents_allow_access(1, &second_gpu, NULL, total));
  pthread_t thread[8];
  for (intptr_t at = 0; at < 8; ++at) pthread_create(&thread[at], NULL, worker, (void *)at);
  for (int at = 0; at < 8; ++at) pthread_join(thread[at], NULL);
  OK(hsa_memory_copy(&sum, total, 4));
  CHECK(sum == 20 * 100 * 36);
  OK(hsa_memory_free(total));
}

// Kernels in two queues, one after the other by barriers; a copy before and after.
static void chain(void) {
  hsa_queue_t *other;
  OK(hsa_queue_create(gpu, 64, 0, NULL, NULL, 0, 0, &other));
  uint32_t host = 7, back = 0, *number = device_memory(4);
  hsa_signal_t there = new_signal(1), first = new_signal(1), second = new_signal(1), end = new_signal(1);
  struct { uint32_t *total; int by; } *block = arguments_memory(128);
  block[0].total = block[1].total = number, block[0].by = 10, block[1].by = 100;
  OK(hsa_amd_memory_async_copy(&back, cpu, number, gpu, 4, 1, &second, end));
  hsa_barrier_packet_t barrier = {.header = BARRIER_AND | 1 << 8, .dep_signal = {first}};
  hsa_kernel_dispatch_packet_t packet = kernel(code[0], "count", 1, &block[1], second);
  submit(other, &barrier);
  submit(other, &packet);
  barrier.dep_signal[0] = there;
  packet = kernel(code[0], "count", 1, &block[0], first);
  submit(queue, &barrier);
  submit(queue, &packet);
  OK(hsa_amd_memory_async_copy(number, gpu, &host, cpu, 4, 0, NULL, there));
  wait_for(end);
  CHECK(back == 117);
  hsa_times_t early, late;
  OK(hsa_amd_profiling_get_dispatch_time(gpu, first, &early));
  OK(hsa_amd_profiling_get_dispatch_time(gpu, second, &late));
  CHECK(early.start < early.end && early.end <= late.start && late.start < late.end);
  OK(hsa_queue_destroy(other));
  OK(hsa_memory_free(number));
  OK(hsa_memory_free(block));
  for (int at = 0; at < 4; ++at) OK(hsa_signal_destroy((hsa_signal_t[]){there, first, second, end}[at]));
}

int main(void) {
  start();
  code[0] = load(gpu), code[1] = load(second_gpu);
  OK(hsa_queue_create(gpu, 64, 0, NULL, NULL, 0, 0, &queue));
  saxpy();
  reduce();
  stack();
  variables();
  three_dimensions();
  registers();
  host_memory();
  chain();
  threads();
  OK(hsa_queue_destroy(queue));
  OK(hsa_executable_destroy(code[0]));
  OK(hsa_shut_down());
  return 0;
}
