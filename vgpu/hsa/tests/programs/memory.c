// Regions, pools, allocations, locked memory and copies; wrong arguments included.
#include "hsa_api.h"

#include <sys/mman.h>

static hsa_amd_memory_pool_t coarse, group, host_fine, host_coarse, kernarg;
static int freed;

static hsa_status_t pick_pool(hsa_amd_memory_pool_t pool, void *data) {
  uint32_t segment, flags;
  OK(hsa_amd_memory_pool_get_info(pool, 0, &segment));
  OK(hsa_amd_memory_pool_get_info(pool, 1, &flags));
  bool host = *(uint64_t *)data == cpu.handle;
  if (segment == 3)
    group = pool;
  else if (flags & 1)
    kernarg = pool;
  else if (host)
    *(flags & 4 ? &host_coarse : &host_fine) = pool;
  else if (flags & 4)
    coarse = pool;
  return SUCCESS;
}

static void pools(void) {
  OK(hsa_amd_agent_iterate_memory_pools(gpu, pick_pool, &gpu));
  OK(hsa_amd_agent_iterate_memory_pools(cpu, pick_pool, &cpu));
  CHECK(coarse.handle && group.handle && host_fine.handle && host_coarse.handle && kernarg.handle);
  bool allowed, all;
  size_t size, granule, alignment, largest;
  OK(hsa_amd_memory_pool_get_info(coarse, 5, &allowed));
  OK(hsa_amd_memory_pool_get_info(coarse, 2, &size));
  OK(hsa_amd_memory_pool_get_info(coarse, 6, &granule));
  OK(hsa_amd_memory_pool_get_info(coarse, 7, &alignment));
  OK(hsa_amd_memory_pool_get_info(coarse, 15, &all));
  OK(hsa_amd_memory_pool_get_info(coarse, 16, &largest));
  CHECK(allowed && size == (size_t)64 << 20 && granule == 4096 && alignment >= 256 && !all && largest == size);
  OK(hsa_amd_memory_pool_get_info(group, 5, &allowed));
  OK(hsa_amd_memory_pool_get_info(host_fine, 15, &all));
  CHECK(!allowed && all);
  ANSWERS(INVALID_ARGUMENT, hsa_amd_memory_pool_get_info(coarse, 77, &size));
  ANSWERS(INVALID_ARGUMENT, hsa_amd_memory_pool_get_info(coarse, 0, NULL));
  uint32_t access, hops;
  OK(hsa_amd_agent_memory_pool_get_info(gpu, coarse, 0, &access));
  OK(hsa_amd_agent_memory_pool_get_info(gpu, host_fine, 1, &hops));
  CHECK(access == 1 && hops == 1);
  OK(hsa_amd_agent_memory_pool_get_info(second_gpu, coarse, 0, &access));
  CHECK(access == 2);
  OK(hsa_amd_agent_memory_pool_get_info(gpu, group, 0, &access));
  CHECK(access == 0);
  uint32_t link[7];
  OK(hsa_amd_agent_memory_pool_get_info(gpu, host_fine, 2, link));
  CHECK(link[5] == 2);
  bool can = true;
  OK(hsa_amd_memory_pool_can_migrate(coarse, host_fine, &can));
  CHECK(!can);
  for (unsigned at = 0; at < NONES; ++at) {
    ANSWERS(INVALID_MEMORY_POOL, hsa_amd_memory_pool_get_info(NONE[at], 0, &size));
    ANSWERS(INVALID_REGION, hsa_region_get_info(NONE[at], 0, &size));
    ANSWERS(INVALID_AGENT, hsa_amd_agent_iterate_memory_pools(NONE[at], pick_pool, NULL));
  }
  static const uint32_t attributes[] = {0, 1, 2, 4, 5, 6, 7, 8, 0xa000, 0xa001, 0xa002, 0xa003};
  for (unsigned at = 0; at < sizeof attributes / sizeof *attributes; ++at) {
    uint64_t value;
    OK(hsa_region_get_info(device_region, attributes[at], &value));
  }
  ANSWERS(INVALID_ARGUMENT, hsa_region_get_info(device_region, 3, &size));
}

static void note(void *pointer, void *data) {
  CHECK(pointer && data == &freed);
  ++freed;
}

static void allocations(void) {
  void *memory = NULL, *more = NULL;
  ANSWERS(INVALID_ARGUMENT, hsa_memory_allocate(device_region, 0, &memory));
  ANSWERS(INVALID_ARGUMENT, hsa_memory_allocate(device_region, 8, NULL));
  ANSWERS(INVALID_ALLOCATION, hsa_memory_allocate(device_region, (size_t)65 << 20, &memory));
  ANSWERS(INVALID_REGION, hsa_memory_allocate((hsa_region_t){7}, 8, &memory));
  ANSWERS(INVALID_ALLOCATION, hsa_amd_memory_pool_allocate(group, 8, 0, &memory));
  ANSWERS(INVALID_MEMORY_POOL, hsa_amd_memory_pool_allocate(gpu, 8, 0, &memory));
  ANSWERS(INVALID_ARGUMENT, hsa_amd_memory_pool_allocate(coarse, 8, 1u << 31, &memory));
  // The memory of the device is limited, and comes back.
  OK(hsa_memory_allocate(device_region, (size_t)40 << 20, &memory));
  ANSWERS(OUT_OF_RESOURCES, hsa_memory_allocate(device_region, (size_t)40 << 20, &more));
  uint64_t available;
  OK(hsa_agent_get_info(gpu, 0xa015, &available));
  CHECK(available <= (uint64_t)24 << 20);
  OK(hsa_memory_assign_agent(memory, gpu, 3));
  ANSWERS(INVALID_ARGUMENT, hsa_memory_assign_agent(memory, gpu, 4));
  ANSWERS(INVALID_AGENT, hsa_memory_assign_agent(memory, NONE[0], 3));
  OK(hsa_memory_free(memory));
  OK(hsa_memory_allocate(device_region, (size_t)40 << 20, &more));
  OK(hsa_memory_free(more));
  ANSWERS(INVALID_ALLOCATION, hsa_memory_free(more));
  ANSWERS(INVALID_ALLOCATION, hsa_amd_memory_pool_free((void *)&memory));
  OK(hsa_memory_free(NULL));
  OK(hsa_amd_memory_pool_allocate(coarse, 100, 0, &memory));
  OK(hsa_amd_register_deallocation_callback(memory, note, &freed));
  OK(hsa_amd_register_deallocation_callback(memory, note, &freed));
  OK(hsa_amd_deregister_deallocation_callback(memory, note));
  ANSWERS(INVALID_ALLOCATION, hsa_amd_register_deallocation_callback(&memory, note, NULL));
  ANSWERS(INVALID_ARGUMENT, hsa_amd_register_deallocation_callback(memory, NULL, NULL));
  ANSWERS(INVALID_ARGUMENT, hsa_amd_deregister_deallocation_callback(&memory, note));
  OK(hsa_amd_memory_pool_free(memory));
  CHECK(freed == 1);
}

static void pointers(void) {
  char *memory;
  OK(hsa_amd_memory_pool_allocate(coarse, 1000, 0, (void **)&memory));
  hsa_amd_pointer_info_t info = {.size = sizeof info};
  uint32_t count = 0;
  hsa_agent_t *agents = NULL;
  OK(hsa_amd_pointer_info(memory + 500, &info, malloc, &count, &agents));
  CHECK(info.size == sizeof info && info.type == 1 && info.agent_base == memory && info.bytes == 1000);
  CHECK(info.owner.handle == gpu.handle && info.global_flags == 4);
  CHECK(count == 2 && agents[0].handle == cpu.handle && agents[1].handle == gpu.handle);
  free(agents);
  OK(hsa_amd_agents_allow_access(1, &second_gpu, NULL, memory));
  OK(hsa_amd_pointer_info(memory, &info, malloc, &count, &agents));
  CHECK(count == 3);
  free(agents);
  ANSWERS(INVALID_ARGUMENT, hsa_amd_agents_allow_access(0, &second_gpu, NULL, memory));
  ANSWERS(INVALID_ARGUMENT, hsa_amd_agents_allow_access(1, NULL, NULL, memory));
  ANSWERS(INVALID_AGENT, hsa_amd_agents_allow_access(1, &NONE[0], NULL, memory));
  OK(hsa_amd_pointer_info_set_userdata(memory, &count));
  OK(hsa_amd_pointer_info(memory, &info, NULL, NULL, NULL));
  CHECK(info.user_data == &count);
  // A program of an older release has a shorter structure.
  struct { uint32_t size, type; void *base, *after; } old = {.size = 16, .after = &old};
  OK(hsa_amd_pointer_info(memory, (void *)&old, NULL, NULL, NULL));
  CHECK(old.size == 16 && old.base == memory && old.after == &old);
  OK(hsa_amd_pointer_info(memory + 1000, &info, NULL, NULL, NULL));
  CHECK(info.type == 0);
  info.size = 0;
  ANSWERS(INVALID_ARGUMENT, hsa_amd_pointer_info(memory, &info, NULL, NULL, NULL));
  ANSWERS(INVALID_ARGUMENT, hsa_amd_pointer_info(NULL, &info, NULL, NULL, NULL));
  ANSWERS(INVALID_ARGUMENT, hsa_amd_pointer_info_set_userdata(&info, NULL));
  OK(hsa_amd_memory_pool_free(memory));
}

static void locked(void) {
  char *host = mmap(NULL, 16384, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  void *device;
  hsa_amd_pointer_info_t info = {.size = sizeof info};
  OK(hsa_amd_memory_lock(host, 4096, &gpu, 1, &device));
  CHECK(device == host);
  // Overlapping and nested, in any order.
  OK(hsa_amd_memory_lock(host + 1000, 8000, NULL, 0, &device));
  OK(hsa_amd_memory_lock(host, 16384, NULL, 0, &device));
  OK(hsa_amd_memory_unlock(host + 1000));
  OK(hsa_amd_pointer_info(host + 12000, &info, NULL, NULL, NULL));
  CHECK(info.type == 2 && info.agent_base == host && info.bytes == 16384);
  OK(hsa_amd_memory_unlock(host));
  OK(hsa_amd_pointer_info(host + 12000, &info, NULL, NULL, NULL));
  CHECK(info.type == 0);
  OK(hsa_amd_pointer_info(host + 100, &info, NULL, NULL, NULL));
  CHECK(info.type == 2);
  OK(hsa_amd_memory_unlock(host));
  ANSWERS(INVALID_ARGUMENT, hsa_amd_memory_unlock(host));
  ANSWERS(INVALID_ARGUMENT, hsa_amd_memory_unlock(NULL));
  ANSWERS(INVALID_ARGUMENT, hsa_amd_memory_lock(NULL, 8, NULL, 0, &device));
  ANSWERS(INVALID_ARGUMENT, hsa_amd_memory_lock(host, 0, NULL, 0, &device));
  ANSWERS(INVALID_ARGUMENT, hsa_amd_memory_lock(host, 8, &gpu, 0, &device));
  ANSWERS(INVALID_ARGUMENT, hsa_amd_memory_lock(host, 8, NULL, 1, &device));
  ANSWERS(INVALID_ARGUMENT, hsa_amd_memory_lock(host, 8, &gpu, -1, &device));
  ANSWERS(INVALID_AGENT, hsa_amd_memory_lock(host, 8, (hsa_agent_t *)NONE, 1, &device));
  ANSWERS(INVALID_ARGUMENT, hsa_amd_memory_lock(host, 8, NULL, 0, NULL));
  ANSWERS(INVALID_ARGUMENT, hsa_amd_memory_lock(host, ~(size_t)0, NULL, 0, &device));
  OK(hsa_amd_memory_lock_to_pool(host, 8, NULL, 0, host_fine, 0, &device));
  ANSWERS(INVALID_ARGUMENT, hsa_amd_memory_lock_to_pool(host, 8, NULL, 0, coarse, 0, &device));
  OK(hsa_amd_memory_unlock(host));
  OK(hsa_memory_register(host, 4096));
  OK(hsa_memory_deregister(host, 4096));
  OK(hsa_memory_deregister(host, 4096));
  ANSWERS(INVALID_ARGUMENT, hsa_memory_register(host, 0));
  munmap(host, 16384);
}

static void copies(void) {
  uint32_t *memory, host[256], back[256];
  OK(hsa_memory_allocate(device_region, sizeof host, (void **)&memory));
  for (int at = 0; at < 256; ++at) host[at] = at * 7;
  OK(hsa_memory_copy(memory, host, sizeof host));
  OK(hsa_memory_copy(back, memory, sizeof host));
  CHECK(memcmp(host, back, sizeof host) == 0);
  OK(hsa_memory_copy(back, memory, 0));
  ANSWERS(INVALID_ARGUMENT, hsa_memory_copy(NULL, memory, 4));
  ANSWERS(INVALID_ARGUMENT, hsa_memory_copy(memory, NULL, 4));
  ANSWERS(INVALID_ALLOCATION, hsa_memory_copy(memory + 1, host, sizeof host));
  ANSWERS(INVALID_ALLOCATION, hsa_memory_copy(host, memory + 1, sizeof host));
  OK(hsa_amd_memory_fill(memory + 1, 77, 254));
  OK(hsa_memory_copy(back, memory, sizeof host));
  CHECK(back[0] == 0 && back[1] == 77 && back[254] == 77 && back[255] == 255 * 7);
  ANSWERS(INVALID_ARGUMENT, hsa_amd_memory_fill(NULL, 77, 1));
  ANSWERS(INVALID_ARGUMENT, hsa_amd_memory_fill((char *)memory + 1, 77, 1));
  ANSWERS(INVALID_ARGUMENT, hsa_amd_memory_fill(memory, 77, ~(size_t)0));
  ANSWERS(INVALID_ALLOCATION, hsa_amd_memory_fill(memory, 77, 257));
  ANSWERS(INVALID_ALLOCATION, hsa_amd_memory_fill(host, 77, 1));
  OK(hsa_memory_free(memory));
}

static void transfers(void) {
  uint32_t *memory, host[64], back[64] = {0};
  OK(hsa_memory_allocate(device_region, sizeof host, (void **)&memory));
  for (int at = 0; at < 64; ++at) host[at] = at;
  // The second waits for the first, which waits for us; asked for in the wrong order.
  hsa_signal_t go = new_signal(1), there = new_signal(1), back_again = new_signal(1);
  OK(hsa_amd_profiling_async_copy_enable(true));
  OK(hsa_amd_memory_async_copy(back, cpu, memory, gpu, sizeof host, 1, &there, back_again));
  OK(hsa_amd_memory_async_copy(memory, gpu, host, cpu, sizeof host, 1, &go, there));
  CHECK(hsa_signal_wait_scacquire(back_again, LT, 1, 10000000, 0) == 1);
  hsa_signal_store_screlease(go, 0);
  wait_for(back_again);
  CHECK(memcmp(host, back, sizeof host) == 0);
  hsa_times_t first, second;
  OK(hsa_amd_profiling_get_async_copy_time(there, &first));
  OK(hsa_amd_profiling_get_async_copy_time(back_again, &second));
  CHECK(first.start <= first.end && first.end <= second.start && second.start <= second.end);
  OK(hsa_amd_profiling_async_copy_enable(false));
  ANSWERS(ERROR, hsa_amd_profiling_get_async_copy_time(there, &first));
  // A copy that fails says so by a negative value.
  hsa_signal_store_relaxed(there, 1);
  OK(hsa_amd_memory_async_copy(memory + 1, gpu, host, cpu, sizeof host, 0, NULL, there));
  CHECK(hsa_signal_wait_scacquire(there, LT, 1, 60000000000, 0) < 0);
  ANSWERS(INVALID_ARGUMENT, hsa_amd_memory_async_copy(NULL, gpu, host, cpu, 4, 0, NULL, there));
  ANSWERS(INVALID_ARGUMENT, hsa_amd_memory_async_copy(memory, gpu, host, cpu, 4, 0, NULL, NONE[0]));
  ANSWERS(INVALID_ARGUMENT, hsa_amd_memory_async_copy(memory, gpu, host, cpu, 4, 1, NULL, there));
  ANSWERS(INVALID_SIGNAL, hsa_amd_memory_async_copy(memory, gpu, host, cpu, 4, 0, NULL, NONE[1]));
  ANSWERS(INVALID_SIGNAL, hsa_amd_memory_async_copy(memory, gpu, host, cpu, 4, 1, NONE, there));
  ANSWERS(INVALID_AGENT, hsa_amd_memory_async_copy(memory, NONE[1], host, cpu, 4, 0, NULL, there));
  hsa_signal_store_relaxed(there, 1);
  OK(hsa_amd_memory_async_copy(memory, gpu, host, cpu, 0, 0, NULL, there));
  CHECK(hsa_signal_load_relaxed(there) == 1);
  // 3 words of 2 rows of 2 slices.
  memset(back, 0, sizeof back);
  OK(hsa_memory_copy(memory, host, sizeof host));
  hsa_pitched_ptr_t to = {back, 16, 64}, from = {memory, 32, 128};
  hsa_dim3_t to_offset = {4, 1, 0}, from_offset = {8, 0, 0}, range = {12, 2, 2};
  OK(hsa_amd_memory_async_copy_rect(&to, &to_offset, &from, &from_offset, &range, gpu, 2, 0, NULL, there));
  wait_for(there);
  static const uint32_t wanted[32] = {[5] = 2, 3, 4, [9] = 10, 11, 12, [21] = 34, 35, 36, [25] = 42, 43, 44};
  CHECK(memcmp(back, wanted, sizeof wanted) == 0);
  ANSWERS(INVALID_ARGUMENT,
          hsa_amd_memory_async_copy_rect(NULL, &to_offset, &from, &from_offset, &range, gpu, 2, 0, NULL, there));
  ANSWERS(INVALID_ARGUMENT,
          hsa_amd_memory_async_copy_rect(&to, &to_offset, &from, &from_offset, &range, gpu, 9, 0, NULL, there));
  OK(hsa_memory_free(memory));
  OK(hsa_signal_destroy(go));
  OK(hsa_signal_destroy(there));
  OK(hsa_signal_destroy(back_again));
}

int main(void) {
  start();
  pools();
  allocations();
  pointers();
  locked();
  copies();
  transfers();
  OK(hsa_shut_down());
  return 0;
}
