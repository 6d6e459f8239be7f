// What the tests need of the HSA runtime API, declared here from its specification.
#pragma once
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef uint32_t hsa_status_t;
typedef struct { uint64_t handle; } hsa_handle_t;
typedef hsa_handle_t hsa_agent_t, hsa_region_t, hsa_isa_t, hsa_cache_t, hsa_wavefront_t, hsa_signal_t, hsa_signal_group_t,
    hsa_code_object_reader_t, hsa_code_object_t, hsa_executable_t, hsa_loaded_code_object_t, hsa_executable_symbol_t,
    hsa_amd_memory_pool_t;
typedef int64_t hsa_signal_value_t;

enum {
  SUCCESS = 0, INFO_BREAK = 1, INVALID_MEMORY_POOL = 40, ILLEGAL_INSTRUCTION = 42, MEMORY_FAULT = 43, CU_MASK_REDUCED = 44,
  ERROR = 0x1000, INVALID_ARGUMENT, INVALID_QUEUE_CREATION, INVALID_ALLOCATION, INVALID_AGENT, INVALID_REGION,
  INVALID_SIGNAL, INVALID_QUEUE, OUT_OF_RESOURCES, INVALID_PACKET_FORMAT, RESOURCE_FREE, NOT_INITIALIZED,
  REFCOUNT_OVERFLOW, INCOMPATIBLE_ARGUMENTS, INVALID_INDEX, INVALID_ISA, INVALID_CODE_OBJECT, INVALID_EXECUTABLE,
  FROZEN_EXECUTABLE, INVALID_SYMBOL_NAME, VARIABLE_ALREADY_DEFINED, VARIABLE_UNDEFINED, EXCEPTION, INVALID_ISA_NAME,
  INVALID_CODE_SYMBOL, INVALID_EXECUTABLE_SYMBOL, INVALID_FILE = 0x1020, INVALID_CODE_OBJECT_READER, INVALID_CACHE,
  INVALID_WAVEFRONT, INVALID_SIGNAL_GROUP,
};

enum { EQ, NE, LT, GTE };
enum { VENDOR_SPECIFIC, INVALID, KERNEL_DISPATCH, BARRIER_AND, AGENT_DISPATCH, BARRIER_OR };

typedef struct {
  uint32_t type, features;
  void *base_address;
  hsa_signal_t doorbell_signal;
  uint32_t size, reserved1;
  uint64_t id;
} hsa_queue_t;

typedef struct {
  uint16_t header, setup, workgroup_size_x, workgroup_size_y, workgroup_size_z, reserved0;
  uint32_t grid_size_x, grid_size_y, grid_size_z, private_segment_size, group_segment_size;
  uint64_t kernel_object;
  void *kernarg_address;
  uint64_t reserved2;
  hsa_signal_t completion_signal;
} hsa_kernel_dispatch_packet_t;

typedef struct {
  uint16_t header, reserved0;
  uint32_t reserved1;
  hsa_signal_t dep_signal[5];
  uint64_t reserved2;
  hsa_signal_t completion_signal;
} hsa_barrier_packet_t;

typedef struct {
  uint16_t header;
  uint8_t format, reserved;
  uint32_t reserved0;
  hsa_signal_t signal;
  int64_t value, mask;
  uint32_t cond, reserved1;
  uint64_t reserved2, reserved3;
  hsa_signal_t completion_signal;
} hsa_amd_barrier_value_packet_t;

typedef struct { uint32_t x, y, z; } hsa_dim3_t;
typedef struct { void *base; size_t pitch, slice; } hsa_pitched_ptr_t;
typedef struct { uint64_t start, end; } hsa_times_t;
typedef struct {
  uint32_t size, type;
  void *agent_base, *host_base;
  size_t bytes;
  void *user_data;
  hsa_agent_t owner;
  uint32_t global_flags;
} hsa_amd_pointer_info_t;
typedef struct {
  uint32_t type;
  hsa_agent_t agent;
  uint64_t virtual_address;
  uint32_t reasons;
} hsa_amd_event_t;

_Static_assert(sizeof(hsa_kernel_dispatch_packet_t) == 64 && sizeof(hsa_barrier_packet_t) == 64 &&
                   sizeof(hsa_amd_barrier_value_packet_t) == 64,
               "packets have 64 bytes");

hsa_status_t hsa_init(void), hsa_shut_down(void);
hsa_status_t hsa_status_string(hsa_status_t, const char **);
hsa_status_t hsa_system_get_info(uint32_t, void *);
hsa_status_t hsa_extension_get_name(uint16_t, const char **);
hsa_status_t hsa_system_extension_supported(uint16_t, uint16_t, uint16_t, bool *);
hsa_status_t hsa_system_major_extension_supported(uint16_t, uint16_t, uint16_t *, bool *);
hsa_status_t hsa_system_get_extension_table(uint16_t, uint16_t, uint16_t, void *);
hsa_status_t hsa_system_get_major_extension_table(uint16_t, uint16_t, size_t, void *);
hsa_status_t hsa_agent_extension_supported(uint16_t, hsa_agent_t, uint16_t, uint16_t, bool *);
hsa_status_t hsa_agent_major_extension_supported(uint16_t, hsa_agent_t, uint16_t, uint16_t *, bool *);

hsa_status_t hsa_iterate_agents(hsa_status_t (*)(hsa_agent_t, void *), void *);
hsa_status_t hsa_agent_get_info(hsa_agent_t, uint32_t, void *);
hsa_status_t hsa_agent_get_exception_policies(hsa_agent_t, uint32_t, uint16_t *);
hsa_status_t hsa_agent_iterate_caches(hsa_agent_t, hsa_status_t (*)(hsa_cache_t, void *), void *);
hsa_status_t hsa_cache_get_info(hsa_cache_t, uint32_t, void *);
hsa_status_t hsa_agent_iterate_isas(hsa_agent_t, hsa_status_t (*)(hsa_isa_t, void *), void *);
hsa_status_t hsa_isa_from_name(const char *, hsa_isa_t *);
hsa_status_t hsa_isa_get_info(hsa_isa_t, uint32_t, uint32_t, void *);
hsa_status_t hsa_isa_get_info_alt(hsa_isa_t, uint32_t, void *);
hsa_status_t hsa_isa_get_exception_policies(hsa_isa_t, uint32_t, uint16_t *);
hsa_status_t hsa_isa_get_round_method(hsa_isa_t, uint32_t, uint32_t, uint32_t *);
hsa_status_t hsa_isa_iterate_wavefronts(hsa_isa_t, hsa_status_t (*)(hsa_wavefront_t, void *), void *);
hsa_status_t hsa_wavefront_get_info(hsa_wavefront_t, uint32_t, void *);
hsa_status_t hsa_isa_compatible(hsa_isa_t, hsa_isa_t, bool *);

hsa_status_t hsa_agent_iterate_regions(hsa_agent_t, hsa_status_t (*)(hsa_region_t, void *), void *);
hsa_status_t hsa_region_get_info(hsa_region_t, uint32_t, void *);
hsa_status_t hsa_amd_agent_iterate_memory_pools(hsa_agent_t, hsa_status_t (*)(hsa_amd_memory_pool_t, void *), void *);
hsa_status_t hsa_amd_memory_pool_get_info(hsa_amd_memory_pool_t, uint32_t, void *);
hsa_status_t hsa_amd_agent_memory_pool_get_info(hsa_agent_t, hsa_amd_memory_pool_t, uint32_t, void *);
hsa_status_t hsa_amd_memory_pool_can_migrate(hsa_amd_memory_pool_t, hsa_amd_memory_pool_t, bool *);
hsa_status_t hsa_amd_memory_pool_allocate(hsa_amd_memory_pool_t, size_t, uint32_t, void **);
hsa_status_t hsa_amd_memory_pool_free(void *);
hsa_status_t hsa_amd_agents_allow_access(uint32_t, const hsa_agent_t *, const uint32_t *, const void *);
hsa_status_t hsa_amd_memory_lock(void *, size_t, hsa_agent_t *, int, void **);
hsa_status_t hsa_amd_memory_lock_to_pool(void *, size_t, hsa_agent_t *, int, hsa_amd_memory_pool_t, uint32_t, void **);
hsa_status_t hsa_amd_memory_unlock(void *);
hsa_status_t hsa_amd_memory_fill(void *, uint32_t, size_t);
hsa_status_t hsa_amd_pointer_info(const void *, hsa_amd_pointer_info_t *, void *(*)(size_t), uint32_t *, hsa_agent_t **);
hsa_status_t hsa_amd_pointer_info_set_userdata(const void *, void *);
hsa_status_t hsa_amd_register_deallocation_callback(void *, void (*)(void *, void *), void *);
hsa_status_t hsa_amd_deregister_deallocation_callback(void *, void (*)(void *, void *));
hsa_status_t hsa_amd_coherency_get_type(hsa_agent_t, uint32_t *);
hsa_status_t hsa_amd_coherency_set_type(hsa_agent_t, uint32_t);
hsa_status_t hsa_memory_allocate(hsa_region_t, size_t, void **);
hsa_status_t hsa_memory_free(void *);
hsa_status_t hsa_memory_copy(void *, const void *, size_t);
hsa_status_t hsa_memory_assign_agent(void *, hsa_agent_t, uint32_t);
hsa_status_t hsa_memory_register(void *, size_t), hsa_memory_deregister(void *, size_t);
hsa_status_t hsa_amd_memory_async_copy(void *, hsa_agent_t, const void *, hsa_agent_t, size_t, uint32_t,
                                       const hsa_signal_t *, hsa_signal_t);
hsa_status_t hsa_amd_memory_async_copy_rect(const hsa_pitched_ptr_t *, const hsa_dim3_t *, const hsa_pitched_ptr_t *,
                                            const hsa_dim3_t *, const hsa_dim3_t *, hsa_agent_t, uint32_t, uint32_t,
                                            const hsa_signal_t *, hsa_signal_t);

hsa_status_t hsa_signal_create(int64_t, uint32_t, const hsa_agent_t *, hsa_signal_t *);
hsa_status_t hsa_signal_destroy(hsa_signal_t);
hsa_status_t hsa_amd_signal_create(int64_t, uint32_t, const hsa_agent_t *, uint64_t, hsa_signal_t *);
hsa_status_t hsa_amd_signal_value_pointer(hsa_signal_t, volatile int64_t **);
hsa_status_t hsa_amd_signal_async_handler(hsa_signal_t, uint32_t, int64_t, bool (*)(int64_t, void *), void *);
hsa_status_t hsa_amd_async_function(void (*)(void *), void *);
uint32_t hsa_amd_signal_wait_any(uint32_t, hsa_signal_t *, uint32_t *, int64_t *, uint64_t, uint32_t, int64_t *);
uint32_t hsa_amd_signal_wait_all(uint32_t, hsa_signal_t *, uint32_t *, int64_t *, uint64_t, uint32_t, int64_t *);
hsa_status_t hsa_signal_group_create(uint32_t, const hsa_signal_t *, uint32_t, const hsa_agent_t *, hsa_signal_group_t *);
hsa_status_t hsa_signal_group_destroy(hsa_signal_group_t);
hsa_status_t hsa_signal_group_wait_any_scacquire(hsa_signal_group_t, const uint32_t *, const int64_t *, uint32_t,
                                                 hsa_signal_t *, int64_t *);
hsa_status_t hsa_signal_group_wait_any_relaxed(hsa_signal_group_t, const uint32_t *, const int64_t *, uint32_t,
                                               hsa_signal_t *, int64_t *);
int64_t hsa_signal_load_relaxed(hsa_signal_t), hsa_signal_load_acquire(hsa_signal_t), hsa_signal_load_scacquire(hsa_signal_t);
void hsa_signal_store_relaxed(hsa_signal_t, int64_t), hsa_signal_store_release(hsa_signal_t, int64_t);
void hsa_signal_store_screlease(hsa_signal_t, int64_t);
void hsa_signal_silent_store_relaxed(hsa_signal_t, int64_t), hsa_signal_silent_store_screlease(hsa_signal_t, int64_t);
int64_t hsa_signal_wait_relaxed(hsa_signal_t, uint32_t, int64_t, uint64_t, uint32_t);
int64_t hsa_signal_wait_acquire(hsa_signal_t, uint32_t, int64_t, uint64_t, uint32_t);
int64_t hsa_signal_wait_scacquire(hsa_signal_t, uint32_t, int64_t, uint64_t, uint32_t);

#define ORDERS(declare, name) \
  declare(name##_relaxed) declare(name##_acquire) declare(name##_scacquire) declare(name##_release) \
  declare(name##_screlease) declare(name##_acq_rel) declare(name##_scacq_screl)
#define CHANGE(name) void name(hsa_signal_t, int64_t);
#define EXCHANGE(name) int64_t name(hsa_signal_t, int64_t);
#define COMPARE(name) int64_t name(hsa_signal_t, int64_t, int64_t);
ORDERS(CHANGE, hsa_signal_add)
ORDERS(CHANGE, hsa_signal_subtract)
ORDERS(CHANGE, hsa_signal_and)
ORDERS(CHANGE, hsa_signal_or)
ORDERS(CHANGE, hsa_signal_xor)
ORDERS(EXCHANGE, hsa_signal_exchange)
ORDERS(COMPARE, hsa_signal_cas)
#define ADD_INDEX(name) uint64_t name(const hsa_queue_t *, uint64_t);
#define COMPARE_INDEX(name) uint64_t name(const hsa_queue_t *, uint64_t, uint64_t);
ORDERS(ADD_INDEX, hsa_queue_add_write_index)
ORDERS(COMPARE_INDEX, hsa_queue_cas_write_index)
#define LOAD_INDEX(name) uint64_t name(const hsa_queue_t *);
#define STORE_INDEX(name) void name(const hsa_queue_t *, uint64_t);
LOAD_INDEX(hsa_queue_load_read_index_relaxed)
LOAD_INDEX(hsa_queue_load_read_index_acquire)
LOAD_INDEX(hsa_queue_load_read_index_scacquire)
LOAD_INDEX(hsa_queue_load_write_index_relaxed)
LOAD_INDEX(hsa_queue_load_write_index_acquire)
LOAD_INDEX(hsa_queue_load_write_index_scacquire)
STORE_INDEX(hsa_queue_store_write_index_relaxed)
STORE_INDEX(hsa_queue_store_write_index_release)
STORE_INDEX(hsa_queue_store_write_index_screlease)
STORE_INDEX(hsa_queue_store_read_index_relaxed)
STORE_INDEX(hsa_queue_store_read_index_release)
STORE_INDEX(hsa_queue_store_read_index_screlease)

typedef void (*hsa_queue_callback_t)(hsa_status_t, hsa_queue_t *, void *);
hsa_status_t hsa_queue_create(hsa_agent_t, uint32_t, uint32_t, hsa_queue_callback_t, void *, uint32_t, uint32_t,
                              hsa_queue_t **);
hsa_status_t hsa_soft_queue_create(hsa_region_t, uint32_t, uint32_t, uint32_t, hsa_signal_t, hsa_queue_t **);
hsa_status_t hsa_queue_destroy(hsa_queue_t *), hsa_queue_inactivate(hsa_queue_t *);
hsa_status_t hsa_amd_queue_set_priority(hsa_queue_t *, uint32_t);
hsa_status_t hsa_amd_queue_cu_set_mask(const hsa_queue_t *, uint32_t, const uint32_t *);
hsa_status_t hsa_amd_queue_cu_get_mask(const hsa_queue_t *, uint32_t, uint32_t *);
hsa_status_t hsa_amd_profiling_set_profiler_enabled(hsa_queue_t *, int);
hsa_status_t hsa_amd_profiling_get_dispatch_time(hsa_agent_t, hsa_signal_t, hsa_times_t *);
hsa_status_t hsa_amd_profiling_async_copy_enable(bool);
hsa_status_t hsa_amd_profiling_get_async_copy_time(hsa_signal_t, hsa_times_t *);
hsa_status_t hsa_amd_profiling_convert_tick_to_system_domain(hsa_agent_t, uint64_t, uint64_t *);
hsa_status_t hsa_amd_register_system_event_handler(hsa_status_t (*)(const hsa_amd_event_t *, void *), void *);

hsa_status_t hsa_code_object_reader_create_from_memory(const void *, size_t, hsa_code_object_reader_t *);
hsa_status_t hsa_code_object_reader_create_from_file(int, hsa_code_object_reader_t *);
hsa_status_t hsa_code_object_reader_destroy(hsa_code_object_reader_t);
hsa_status_t hsa_code_object_deserialize(void *, size_t, const char *, hsa_code_object_t *);
hsa_status_t hsa_code_object_destroy(hsa_code_object_t);
hsa_status_t hsa_code_object_get_info(hsa_code_object_t, uint32_t, void *);
hsa_status_t hsa_executable_create(uint32_t, uint32_t, const char *, hsa_executable_t *);
hsa_status_t hsa_executable_create_alt(uint32_t, uint32_t, const char *, hsa_executable_t *);
hsa_status_t hsa_executable_destroy(hsa_executable_t);
hsa_status_t hsa_executable_load_agent_code_object(hsa_executable_t, hsa_agent_t, hsa_code_object_reader_t, const char *,
                                                   hsa_loaded_code_object_t *);
hsa_status_t hsa_executable_load_code_object(hsa_executable_t, hsa_agent_t, hsa_code_object_t, const char *);
hsa_status_t hsa_executable_freeze(hsa_executable_t, const char *);
hsa_status_t hsa_executable_get_info(hsa_executable_t, uint32_t, void *);
hsa_status_t hsa_executable_validate(hsa_executable_t, uint32_t *);
hsa_status_t hsa_executable_validate_alt(hsa_executable_t, const char *, uint32_t *);
hsa_status_t hsa_executable_global_variable_define(hsa_executable_t, const char *, void *);
hsa_status_t hsa_executable_agent_global_variable_define(hsa_executable_t, hsa_agent_t, const char *, void *);
hsa_status_t hsa_executable_readonly_variable_define(hsa_executable_t, hsa_agent_t, const char *, void *);
hsa_status_t hsa_executable_get_symbol(hsa_executable_t, const char *, const char *, hsa_agent_t, int32_t,
                                       hsa_executable_symbol_t *);
hsa_status_t hsa_executable_get_symbol_by_name(hsa_executable_t, const char *, const hsa_agent_t *,
                                               hsa_executable_symbol_t *);
hsa_status_t hsa_executable_symbol_get_info(hsa_executable_symbol_t, uint32_t, void *);
hsa_status_t hsa_executable_iterate_symbols(hsa_executable_t,
                                            hsa_status_t (*)(hsa_executable_t, hsa_executable_symbol_t, void *), void *);
hsa_status_t hsa_executable_iterate_agent_symbols(
    hsa_executable_t, hsa_agent_t, hsa_status_t (*)(hsa_executable_t, hsa_agent_t, hsa_executable_symbol_t, void *), void *);
hsa_status_t hsa_executable_iterate_program_symbols(
    hsa_executable_t, hsa_status_t (*)(hsa_executable_t, hsa_executable_symbol_t, void *), void *);

// Nothing stands behind it.
hsa_status_t hsa_ext_image_create(void);

// The call answers this status.
#define ANSWERS(status, call)                                                                       \
  do {                                                                                              \
    hsa_status_t got = (call);                                                                      \
    if (got != (hsa_status_t)(status)) {                                                            \
      fprintf(stderr, "%s:%d: %s answers %#x, not %s\n", __FILE__, __LINE__, #call, got, #status);  \
      exit(1);                                                                                      \
    }                                                                                               \
  } while (0)
#define OK(call) ANSWERS(SUCCESS, call)
#define CHECK(what)                                                        \
  do {                                                                     \
    if (!(what)) {                                                         \
      fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #what);   \
      exit(1);                                                             \
    }                                                                      \
  } while (0)

// Handles that are none, of whatever kind.
static const hsa_handle_t NONE[] = {{0}, {1}, {0x7fff12345670}, {~0ull}, {0x8100000000ffffff}, {0x8800000000ffffff}};
#define NONES (sizeof NONE / sizeof *NONE)

static hsa_agent_t cpu, gpu, second_gpu;
static hsa_region_t device_region, kernarg_region;

static __attribute__((unused)) hsa_status_t pick_agent(hsa_agent_t agent, void *data) {
  (void)data;
  uint32_t type;
  OK(hsa_agent_get_info(agent, 17, &type));
  if (type == 0)
    cpu = agent;
  else if (gpu.handle == 0)
    gpu = agent;
  else
    second_gpu = agent;
  return SUCCESS;
}

static __attribute__((unused)) hsa_status_t pick_region(hsa_region_t region, void *data) {
  (void)data;
  uint32_t segment, flags;
  OK(hsa_region_get_info(region, 0, &segment));
  OK(hsa_region_get_info(region, 1, &flags));
  if (segment == 0 && flags & 4) device_region = region;
  if (segment == 0 && flags & 1) kernarg_region = region;
  return SUCCESS;
}

// Starts the runtime, and finds agents and regions.
static __attribute__((unused)) void start(void) {
  OK(hsa_init());
  OK(hsa_iterate_agents(pick_agent, NULL));
  CHECK(cpu.handle && gpu.handle && second_gpu.handle);
  OK(hsa_agent_iterate_regions(gpu, pick_region, NULL));
  CHECK(device_region.handle && kernarg_region.handle);
}

// Puts a packet into a queue and rings.
static __attribute__((unused)) void submit(hsa_queue_t *queue, const void *packet) {
  uint64_t index = hsa_queue_add_write_index_scacq_screl(queue, 1);
  while (index - hsa_queue_load_read_index_scacquire(queue) >= queue->size);
  char *place = (char *)queue->base_address + index % queue->size * 64;
  memcpy(place + 4, (const char *)packet + 4, 60);
  uint32_t first;
  memcpy(&first, packet, 4);
  atomic_store_explicit((_Atomic uint32_t *)place, first, memory_order_release);
  hsa_signal_store_screlease(queue->doorbell_signal, (int64_t)index);
}

static __attribute__((unused)) hsa_signal_t new_signal(int64_t value) {
  hsa_signal_t signal;
  OK(hsa_signal_create(value, 0, NULL, &signal));
  return signal;
}

// Waits until a signal is below 1, for a minute at most.
static __attribute__((unused)) void wait_for(hsa_signal_t signal) {
  int64_t value = hsa_signal_wait_scacquire(signal, LT, 1, 60000000000, 0);
  CHECK(value < 1);
}
