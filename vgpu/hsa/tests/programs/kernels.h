// Code objects, kernels and launches for the programs that launch some.
#pragma once
#include "hsa_api.h"

// The code object for a processor, or the one of the virtual GPU.
static void *read_code(const char *processor, size_t *size) {
  char path[4096];
  snprintf(path, sizeof path, "%s/kernels.%s.so", getenv("KERNELS"), processor);
  FILE *file = fopen(path, "rb");
  if (!file) fprintf(stderr, "%s is not there\n", path);
  CHECK(file);
  void *bytes = malloc(1 << 20);
  *size = fread(bytes, 1, 1 << 20, file);
  CHECK(*size > 0 && *size < 1 << 20);
  fclose(file);
  return bytes;
}

static hsa_executable_t code[2];

// Loads the kernels onto an agent.
static hsa_executable_t load(hsa_agent_t agent) {
  char processor[64];
  OK(hsa_agent_get_info(agent, 0, processor));
  size_t size;
  void *bytes = read_code(processor, &size);
  hsa_code_object_reader_t reader;
  hsa_executable_t executable;
  OK(hsa_code_object_reader_create_from_memory(bytes, size, &reader));
  OK(hsa_executable_create_alt(1, 0, NULL, &executable));
  OK(hsa_executable_load_agent_code_object(executable, agent, reader, NULL, NULL));
  OK(hsa_executable_freeze(executable, NULL));
  OK(hsa_code_object_reader_destroy(reader));
  free(bytes);
  return executable;
}

// A packet for a kernel: work-groups of 64 in one dimension.
static hsa_kernel_dispatch_packet_t kernel(hsa_executable_t executable, const char *name, uint32_t items,
                                           void *arguments, hsa_signal_t completion) {
  char symbol_name[64];
  snprintf(symbol_name, sizeof symbol_name, "%s.kd", name);
  hsa_executable_symbol_t symbol;
  OK(hsa_executable_get_symbol_by_name(executable, symbol_name, NULL, &symbol));
  hsa_kernel_dispatch_packet_t packet = {.header = KERNEL_DISPATCH | 1 << 8 | 2 << 9 | 2 << 11, .setup = 1,
      .workgroup_size_x = 64, .workgroup_size_y = 1, .workgroup_size_z = 1, .grid_size_x = items, .grid_size_y = 1,
      .grid_size_z = 1, .kernarg_address = arguments, .completion_signal = completion};
  OK(hsa_executable_symbol_get_info(symbol, 22, &packet.kernel_object));
  OK(hsa_executable_symbol_get_info(symbol, 13, &packet.group_segment_size));
  OK(hsa_executable_symbol_get_info(symbol, 14, &packet.private_segment_size));
  return packet;
}

static void *device_memory(size_t size) {
  void *memory;
  OK(hsa_memory_allocate(device_region, size, &memory));
  return memory;
}

static void *arguments_memory(size_t size) {
  void *memory;
  OK(hsa_memory_allocate(kernarg_region, size, &memory));
  return memory;
}

// Launches a kernel with pointers and numbers of 8 bytes as arguments, and waits for it.
static void run(hsa_queue_t *queue, hsa_executable_t executable, const char *name, uint32_t items, const void *arguments,
                size_t size) {
  hsa_signal_t end = new_signal(1);
  void *block = arguments_memory(256);
  memcpy(block, arguments, size);
  hsa_kernel_dispatch_packet_t packet = kernel(executable, name, items, block, end);
  submit(queue, &packet);
  wait_for(end);
  CHECK(hsa_signal_load_scacquire(end) == 0);
  OK(hsa_memory_free(block));
  OK(hsa_signal_destroy(end));
}
