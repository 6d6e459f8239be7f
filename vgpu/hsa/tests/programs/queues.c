// Queues and packets without kernels: barriers, errors, queues that end under way, eight threads.
#include "hsa_api.h"

#include <pthread.h>
#include <unistd.h>

static hsa_status_t told;
static hsa_queue_t *told_of;
static hsa_signal_t telling;

static void callback(hsa_status_t status, hsa_queue_t *queue, void *data) {
  CHECK(data == &told);
  told = status, told_of = queue;
  hsa_signal_store_screlease(telling, 0);
}

static hsa_queue_t *new_queue(hsa_agent_t agent, uint32_t size) {
  hsa_queue_t *queue = NULL;
  OK(hsa_queue_create(agent, size, 0, callback, &told, UINT32_MAX, UINT32_MAX, &queue));
  return queue;
}

#define BARRIER(kind) (kind | 1 << 8 | 2 << 9 | 2 << 11)

static void wrong(void) {
  hsa_queue_t *queue;
  ANSWERS(INVALID_ARGUMENT, hsa_queue_create(gpu, 0, 0, NULL, NULL, 0, 0, &queue));
  ANSWERS(INVALID_ARGUMENT, hsa_queue_create(gpu, 100, 0, NULL, NULL, 0, 0, &queue));
  ANSWERS(INVALID_ARGUMENT, hsa_queue_create(gpu, 1 << 18, 0, NULL, NULL, 0, 0, &queue));
  ANSWERS(INVALID_ARGUMENT, hsa_queue_create(gpu, 64, 7, NULL, NULL, 0, 0, &queue));
  ANSWERS(INVALID_ARGUMENT, hsa_queue_create(gpu, 64, 0, NULL, NULL, 0, 0, NULL));
  ANSWERS(INVALID_AGENT, hsa_queue_create(NONE[2], 64, 0, NULL, NULL, 0, 0, &queue));
  ANSWERS(INVALID_QUEUE_CREATION, hsa_queue_create(cpu, 64, 0, NULL, NULL, 0, 0, &queue));
  ANSWERS(INVALID_QUEUE_CREATION, hsa_queue_create(gpu, 64, 2, NULL, NULL, 0, 0, &queue));
  hsa_queue_t fake = {0};
  ANSWERS(INVALID_ARGUMENT, hsa_queue_destroy(NULL));
  ANSWERS(INVALID_QUEUE, hsa_queue_destroy(&fake));
  ANSWERS(INVALID_ARGUMENT, hsa_queue_inactivate(NULL));
  ANSWERS(INVALID_QUEUE, hsa_queue_inactivate(&fake));
  CHECK(hsa_queue_load_read_index_relaxed(&fake) == 0 && hsa_queue_add_write_index_relaxed(&fake, 5) == 0);
  hsa_queue_store_write_index_relaxed(&fake, 7);
  // As large as the agent's smallest queue at least.
  queue = new_queue(gpu, 1);
  CHECK(queue->size == 64 && queue->features == 1 && queue->type == 0);
  uint32_t mask[2] = {~0u, ~0u};
  OK(hsa_amd_queue_set_priority(queue, 2));
  ANSWERS(INVALID_ARGUMENT, hsa_amd_queue_set_priority(queue, 3));
  ANSWERS(CU_MASK_REDUCED, hsa_amd_queue_cu_set_mask(queue, 64, mask));
  ANSWERS(INVALID_ARGUMENT, hsa_amd_queue_cu_set_mask(queue, 33, mask));
  OK(hsa_amd_queue_cu_get_mask(queue, 64, mask));
  CHECK(mask[0] && mask[1] == 0);
  OK(hsa_amd_profiling_set_profiler_enabled(queue, 1));
  OK(hsa_queue_destroy(queue));
  ANSWERS(INVALID_QUEUE, hsa_queue_destroy(queue));
  // An agent has no more than it says.
  hsa_queue_t *all[129];
  for (int at = 0; at < 128; ++at) all[at] = new_queue(second_gpu, 64);
  ANSWERS(OUT_OF_RESOURCES, hsa_queue_create(second_gpu, 64, 0, NULL, NULL, 0, 0, &all[128]));
  for (int at = 0; at < 128; ++at) OK(hsa_queue_destroy(all[at]));
}

#define ADDS(name) CHECK(name(queue, 1) == index++);
#define EXCHANGES(name) CHECK(name(queue, 77, 99) == index && name(queue, index, index + 1) == index); ++index;

static void indexes(void) {
  hsa_signal_t doorbell = new_signal(0);
  hsa_queue_t *queue = NULL;
  OK(hsa_soft_queue_create(kernarg_region, 16, 1, 2, doorbell, &queue));
  CHECK(queue->size == 16 && queue->type == 1 && queue->features == 2 && queue->doorbell_signal.handle == doorbell.handle);
  CHECK((*(uint16_t *)((char *)queue->base_address + 15 * 64) & 0xff) == INVALID);
  uint64_t index = 0;
  ORDERS(ADDS, hsa_queue_add_write_index)
  ORDERS(EXCHANGES, hsa_queue_cas_write_index)
  CHECK(hsa_queue_load_write_index_relaxed(queue) == index && hsa_queue_load_write_index_acquire(queue) == index);
  hsa_queue_store_write_index_release(queue, 3);
  hsa_queue_store_write_index_screlease(queue, 4);
  CHECK(hsa_queue_load_write_index_scacquire(queue) == 4);
  hsa_queue_store_read_index_relaxed(queue, 1);
  hsa_queue_store_read_index_release(queue, 2);
  hsa_queue_store_read_index_screlease(queue, 3);
  CHECK(hsa_queue_load_read_index_acquire(queue) == 3 && hsa_queue_load_read_index_scacquire(queue) == 3);
  ANSWERS(INVALID_QUEUE, hsa_amd_queue_set_priority(queue, 1));
  OK(hsa_queue_destroy(queue));
  ANSWERS(INVALID_ARGUMENT, hsa_soft_queue_create(kernarg_region, 15, 1, 2, doorbell, &queue));
  ANSWERS(INVALID_ARGUMENT, hsa_soft_queue_create(kernarg_region, 16, 1, 0, doorbell, &queue));
  ANSWERS(INVALID_ARGUMENT, hsa_soft_queue_create(kernarg_region, 16, 1, 2, NONE[0], &queue));
  ANSWERS(INVALID_SIGNAL, hsa_soft_queue_create(kernarg_region, 16, 1, 2, NONE[1], &queue));
  ANSWERS(INVALID_REGION, hsa_soft_queue_create(NONE[1], 16, 1, 2, doorbell, &queue));
  OK(hsa_signal_destroy(doorbell));
}

static void barriers(void) {
  hsa_queue_t *first = new_queue(gpu, 64), *second = new_queue(gpu, 64);
  hsa_signal_t start = new_signal(1), middle = new_signal(1), end = new_signal(1), other = new_signal(1);
  // The second queue waits for the first, which waits for the host.
  hsa_barrier_packet_t packet = {.header = BARRIER(BARRIER_AND), .dep_signal = {middle}, .completion_signal = end};
  submit(second, &packet);
  packet = (hsa_barrier_packet_t){.header = BARRIER(BARRIER_AND), .dep_signal = {[1] = start}, .completion_signal = middle};
  submit(first, &packet);
  CHECK(hsa_signal_wait_scacquire(end, LT, 1, 20000000, 0) == 1);
  CHECK(hsa_queue_load_read_index_scacquire(second) == 0);
  hsa_signal_store_screlease(start, 0);
  wait_for(end);
  CHECK(hsa_queue_load_read_index_scacquire(second) == 1);
  hsa_times_t times;
  OK(hsa_amd_profiling_get_dispatch_time(gpu, end, &times));
  CHECK(times.start < times.end);
  ANSWERS(INVALID_AGENT, hsa_amd_profiling_get_dispatch_time(cpu, end, &times));
  ANSWERS(INVALID_SIGNAL, hsa_amd_profiling_get_dispatch_time(gpu, NONE[1], &times));
  uint64_t tick;
  OK(hsa_amd_profiling_convert_tick_to_system_domain(gpu, 5, &tick));
  CHECK(tick == 50);
  // One of two is enough.
  hsa_signal_store_relaxed(end, 1);
  hsa_signal_store_relaxed(start, 1);
  packet = (hsa_barrier_packet_t){.header = BARRIER(BARRIER_OR), .dep_signal = {start, other}, .completion_signal = end};
  submit(first, &packet);
  CHECK(hsa_signal_wait_scacquire(end, LT, 1, 20000000, 0) == 1);
  hsa_signal_store_screlease(other, 0);
  wait_for(end);
  // Without signals both are done at once.
  for (int kind = BARRIER_AND; kind <= BARRIER_OR; kind += 2) {
    hsa_signal_store_relaxed(end, 1);
    packet = (hsa_barrier_packet_t){.header = BARRIER(kind), .completion_signal = end};
    submit(first, &packet);
    wait_for(end);
  }
  // A value under a mask.
  hsa_signal_store_relaxed(end, 1);
  hsa_amd_barrier_value_packet_t value = {.header = BARRIER(VENDOR_SPECIFIC), .format = 2, .signal = start, .value = 4,
                                          .mask = 0xf, .cond = GTE, .completion_signal = end};
  submit(first, &value);
  hsa_signal_store_screlease(start, 0x73);
  CHECK(hsa_signal_wait_scacquire(end, LT, 1, 20000000, 0) == 1);
  hsa_signal_store_screlease(start, 0x75);
  wait_for(end);
  OK(hsa_queue_destroy(first));
  OK(hsa_queue_destroy(second));
  for (int at = 0; at < 4; ++at) OK(hsa_signal_destroy((hsa_signal_t[]){start, middle, end, other}[at]));
}

// A packet that fails: the callback is told, and the queue does nothing more.
static void fails(const void *packet, hsa_status_t status) {
  hsa_queue_t *queue = new_queue(gpu, 64);
  telling = new_signal(1);
  hsa_signal_t after = new_signal(1);
  submit(queue, packet);
  wait_for(telling);
  CHECK(told == status && told_of == queue);
  hsa_barrier_packet_t fine = {.header = BARRIER(BARRIER_AND), .completion_signal = after};
  submit(queue, &fine);
  CHECK(hsa_signal_wait_scacquire(after, LT, 1, 20000000, 0) == 1);
  OK(hsa_queue_destroy(queue));
  OK(hsa_signal_destroy(after));
  OK(hsa_signal_destroy(telling));
}

static void failures(void) {
  hsa_barrier_packet_t packet = {.header = BARRIER(BARRIER_AND), .dep_signal = {{0x1234}}};
  fails(&packet, INVALID_SIGNAL);
  packet = (hsa_barrier_packet_t){.header = BARRIER(BARRIER_AND), .completion_signal = {0x1234}};
  fails(&packet, INVALID_SIGNAL);
  packet = (hsa_barrier_packet_t){.header = BARRIER(AGENT_DISPATCH)};
  fails(&packet, INVALID_PACKET_FORMAT);
  packet = (hsa_barrier_packet_t){.header = BARRIER(17)};
  fails(&packet, INVALID_PACKET_FORMAT);
  hsa_amd_barrier_value_packet_t value = {.header = BARRIER(VENDOR_SPECIFIC), .format = 1};
  fails(&value, INVALID_PACKET_FORMAT);
  hsa_kernel_dispatch_packet_t kernel = {.header = BARRIER(KERNEL_DISPATCH), .setup = 1, .workgroup_size_x = 64,
      .workgroup_size_y = 1, .workgroup_size_z = 1, .grid_size_x = 64, .grid_size_y = 1, .grid_size_z = 1,
      .kernel_object = 0x123400};
  fails(&kernel, INVALID_CODE_OBJECT);
  kernel.setup = 3, kernel.workgroup_size_x = 1, kernel.grid_size_x = kernel.grid_size_y = kernel.grid_size_z = UINT32_MAX;
  fails(&kernel, INCOMPATIBLE_ARGUMENTS);
  kernel.setup = 0;
  fails(&kernel, INVALID_PACKET_FORMAT);
}

// Queues that end while a packet waits for ever.
static void under_way(void) {
  hsa_signal_t never = new_signal(1), end = new_signal(1);
  for (int how = 0; how < 3; ++how) {
    hsa_queue_t *queue = new_queue(gpu, 64);
    hsa_barrier_packet_t packet = {
        .header = BARRIER(how == 1 ? BARRIER_OR : BARRIER_AND), .dep_signal = {never}, .completion_signal = end};
    submit(queue, &packet);
    usleep(5000);
    if (how == 2) OK(hsa_queue_inactivate(queue));
    OK(hsa_queue_destroy(queue));
    CHECK(hsa_signal_load_relaxed(end) == 1);
  }
  // The last shutting down ends what is left.
  hsa_queue_t *queue = new_queue(gpu, 64);
  hsa_barrier_packet_t packet = {.header = BARRIER(BARRIER_AND), .dep_signal = {never}, .completion_signal = end};
  submit(queue, &packet);
}

static hsa_queue_t *shared;
static _Atomic int64_t done;

static void *producer(void *data) {
  (void)data;
  for (int round = 0; round < 1000; ++round) {
    hsa_signal_t end = new_signal(1);
    hsa_barrier_packet_t packet = {.header = BARRIER(BARRIER_AND), .completion_signal = end};
    submit(shared, &packet);
    wait_for(end);
    atomic_fetch_add(&done, 1);
    OK(hsa_signal_destroy(end));
  }
  return NULL;
}

static void threads(void) {
  shared = new_queue(gpu, 64);
  pthread_t thread[8];
  for (int at = 0; at < 8; ++at) pthread_create(&thread[at], NULL, producer, NULL);
  for (int at = 0; at < 8; ++at) pthread_join(thread[at], NULL);
  CHECK(done == 8000 && hsa_queue_load_read_index_scacquire(shared) == 8000);
  OK(hsa_queue_destroy(shared));
}

int main(void) {
  start();
  wrong();
  indexes();
  barriers();
  failures();
  threads();
  under_way();
  OK(hsa_shut_down());
  return 0;
}
