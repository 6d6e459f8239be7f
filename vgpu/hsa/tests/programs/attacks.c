// What a broken or hostile program does: damaged code objects, descriptors and packets, wild branches, threads, forks.
// Whatever comes of it, the process goes on, and what is right still computes.
#include "kernels.h"

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

static uint64_t seed = 88172645463325252ull;

static uint64_t next_number(void) {
  seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
  return seed;
}

static void ignore(hsa_status_t status, hsa_queue_t *queue, void *data) {}

static hsa_queue_t *new_queue(void) {
  hsa_queue_t *queue;
  OK(hsa_queue_create(gpu, 64, 0, ignore, NULL, 0, 0, &queue));
  return queue;
}

// A kernel that is right, on a queue of its own.
static void still_works(void) {
  hsa_queue_t *queue = new_queue();
  int *total = device_memory(4), found = 0;
  OK(hsa_memory_copy(total, &found, 4));
  struct { int *total; int by; } arguments = {total, 3};
  run(queue, code[0], "count", 64, &arguments, sizeof arguments);
  OK(hsa_memory_copy(&found, total, 4));
  CHECK(found == 3 * 64);
  OK(hsa_memory_free(total));
  OK(hsa_queue_destroy(queue));
}

// Submits a packet, and destroys the queue if it is not done soon; whether it came to an end.
static int ends_in(uint64_t nanoseconds, const void *packet, hsa_signal_t end) {
  hsa_queue_t *queue = new_queue();
  submit(queue, packet);
  int64_t value = hsa_signal_wait_scacquire(end, LT, 1, nanoseconds, 0);
  OK(hsa_queue_destroy(queue));
  return value < 1;
}

static int ends(const void *packet, hsa_signal_t end) { return ends_in(10000000, packet, end); }

// Launches what symbols a code object has, whatever they are now.
struct launched {
  int tried;
  void *block;
};

static hsa_status_t launch(hsa_executable_t executable, hsa_agent_t agent, hsa_executable_symbol_t symbol, void *data) {
  struct launched *launched = data;
  uint32_t kind;
  OK(hsa_executable_symbol_get_info(symbol, 0, &kind));
  if (kind != 1 || next_number() % 12 != 0) return SUCCESS;
  hsa_signal_t end = new_signal(1);
  hsa_kernel_dispatch_packet_t packet = {.header = KERNEL_DISPATCH | 1 << 8 | 2 << 9 | 2 << 11, .setup = 1,
      .workgroup_size_x = 64, .workgroup_size_y = 1, .workgroup_size_z = 1, .grid_size_x = 64, .grid_size_y = 1,
      .grid_size_z = 1, .kernarg_address = launched->block, .completion_signal = end};
  OK(hsa_executable_symbol_get_info(symbol, 22, &packet.kernel_object));
  OK(hsa_executable_symbol_get_info(symbol, 13, &packet.group_segment_size));
  OK(hsa_executable_symbol_get_info(symbol, 14, &packet.private_segment_size));
  ends(&packet, end);
  OK(hsa_signal_destroy(end));
  ++launched->tried;
  return SUCCESS;
}

static void damaged_code(int rounds) {
  size_t size;
  unsigned char *right = read_code("gfx90a", &size), *bytes = malloc(size);
  int loaded = 0;
  struct launched launched = {0, arguments_memory(4096)};
  int *out = device_memory(4096);
  for (int at = 0; at < 64; ++at) ((void **)launched.block)[at] = out;
  for (int round = 0; round < rounds; ++round) {
    memcpy(bytes, right, size);
    size_t length = next_number() % 8 ? size : next_number() % size + 1;
    // The headers, the tables, or anything; most of it is right.
    size_t range = next_number() % 3 == 0 ? 0x200 : next_number() % 2 ? 0x1000 : size;
    for (int changes = 1 + next_number() % 4; changes > 0; --changes)
      bytes[next_number() % (range < length ? range : length)] = next_number() % 3 ? next_number() : 0xff * (next_number() % 2);
    hsa_code_object_reader_t reader;
    hsa_executable_t executable;
    OK(hsa_code_object_reader_create_from_memory(bytes, length, &reader));
    OK(hsa_executable_create_alt(1, 0, NULL, &executable));
    if (hsa_executable_load_agent_code_object(executable, gpu, reader, NULL, NULL) == SUCCESS) {
      ++loaded;
      OK(hsa_executable_freeze(executable, NULL));
      OK(hsa_executable_iterate_agent_symbols(executable, gpu, launch, &launched));
    }
    OK(hsa_executable_destroy(executable));
    OK(hsa_code_object_reader_destroy(reader));
  }
  CHECK(loaded > 0 && launched.tried > 0);
  OK(hsa_memory_free(launched.block));
  OK(hsa_memory_free(out));
  free(right);
  free(bytes);
}

// The descriptor of a kernel that is loaded is memory, which the host can write.
static void damaged_descriptors(int rounds) {
  hsa_executable_t executable = load(gpu);
  hsa_signal_t end = new_signal(1);
  int **block = arguments_memory(64);
  block[0] = device_memory(65536);
  hsa_kernel_dispatch_packet_t packet = kernel(executable, "stack", 128, block, end);
  unsigned char right[64], wrong[64];
  void *descriptor = (void *)(uintptr_t)packet.kernel_object;
  block[1] = block[0];
  OK(hsa_memory_copy(right, descriptor, 64));
  for (int round = 0; round < rounds; ++round) {
    memcpy(wrong, right, 64);
    for (int changes = 1 + next_number() % 3; changes > 0; --changes) wrong[next_number() % 64] = next_number();
    OK(hsa_memory_copy(descriptor, wrong, 64));
    hsa_signal_store_screlease(end, 1);
    ends(&packet, end);
  }
  OK(hsa_memory_copy(descriptor, right, 64));
  hsa_signal_store_screlease(end, 1);
  CHECK(ends_in(60000000000, &packet, end) && hsa_signal_load_scacquire(end) == 0);
  OK(hsa_memory_free(block[0]));
  OK(hsa_memory_free(block));
  OK(hsa_signal_destroy(end));
  OK(hsa_executable_destroy(executable));
}

static void wild_packets(int rounds) {
  hsa_signal_t end = new_signal(1);
  int **block = arguments_memory(64);
  block[0] = device_memory(65536);
  hsa_kernel_dispatch_packet_t right = kernel(code[0], "count", 64, block, end);
  for (int round = 0; round < rounds; ++round) {
    hsa_kernel_dispatch_packet_t packet = right;
    unsigned char *bytes = (unsigned char *)&packet;
    for (int changes = next_number() % 4; changes >= 0; --changes) {
      size_t at = 2 + next_number() % 54;
      bytes[at] = next_number() % 4 ? next_number() : 0xff;
    }
    // Any kind but those that are no packet yet.
    if (next_number() % 4 == 0) {
      uint8_t type = next_number();
      packet.header = (packet.header & ~0xff) | (type == 1 ? 2 : type);
    }
    if (next_number() % 8 == 0) packet.completion_signal.handle = next_number();
    hsa_signal_store_screlease(end, 1);
    ends(&packet, end);
  }
  OK(hsa_memory_free(block[0]));
  OK(hsa_memory_free(block));
  OK(hsa_signal_destroy(end));
}

static hsa_status_t told;

static void note(hsa_status_t status, hsa_queue_t *queue, void *data) { told = status; }

// Branches to what is no code: nothing, data, the host's memory, half an instruction.
static void wild_branches(void) {
  hsa_signal_t end = new_signal(1);
  uint64_t *block = arguments_memory(64);
  int *data = device_memory(4096);
  hsa_kernel_dispatch_packet_t packet = kernel(code[0], "branch", 64, block, end);
  uint64_t targets[] = {0, 4, (uintptr_t)data, (uintptr_t)&end, packet.kernel_object + 2, 1ull << 48, ~0ull, 1ull << 47,
                        (uintptr_t)block, (40ull << 40) + (1ull << 39)};
  for (unsigned at = 0; at < sizeof targets / sizeof *targets; ++at) {
    hsa_queue_t *queue;
    OK(hsa_queue_create(gpu, 64, 0, note, NULL, 0, 0, &queue));
    block[0] = targets[at];
    hsa_signal_store_screlease(end, 1);
    told = SUCCESS;
    submit(queue, &packet);
    // What the bytes of data mean as instructions may be anything, and an endless loop.
    int is_memory = targets[at] == (uintptr_t)data || targets[at] == (uintptr_t)block;
    int64_t value = hsa_signal_wait_scacquire(end, LT, 1, is_memory ? 20000000 : UINT64_MAX, 0);
    if (is_memory) {
      OK(hsa_queue_destroy(queue));
      continue;
    }
    CHECK(value < 0);
    if (told != ILLEGAL_INSTRUCTION && told != MEMORY_FAULT) fprintf(stderr, "%#lx: %#x\n", targets[at], told);
    CHECK(told == ILLEGAL_INSTRUCTION || told == MEMORY_FAULT);
    OK(hsa_queue_destroy(queue));
  }
  OK(hsa_memory_free(block));
  OK(hsa_memory_free(data));
  OK(hsa_signal_destroy(end));
}

static _Atomic int left;

// Everything at once: code that comes and goes, queues that are destroyed under way, memory, signals.
static void *thread(void *argument) {
  for (int round = 0; round < 15; ++round) {
    hsa_executable_t executable = load(gpu);
    hsa_queue_t *queue = new_queue();
    int *total = device_memory(4096), found = 0;
    OK(hsa_memory_copy(total, &found, 4));
    struct { int *total; int by; } arguments = {total, 2};
    run(queue, executable, "count", 128, &arguments, sizeof arguments);
    OK(hsa_memory_copy(&found, total, 4));
    CHECK(found == 256);
    hsa_signal_t end = new_signal(1);
    void **block = arguments_memory(64);
    *block = total;
    hsa_kernel_dispatch_packet_t packet = kernel(executable, round % 2 ? "forever" : "wild", 128, block, end);
    submit(queue, &packet);
    // In any order, while the kernel runs or has failed.
    if (round % 3 == 0) OK(hsa_executable_destroy(executable));
    if (round % 3 == 1) OK(hsa_memory_free(total));
    OK(hsa_queue_destroy(queue));
    if (round % 3 != 0) OK(hsa_executable_destroy(executable));
    if (round % 3 != 1) OK(hsa_memory_free(total));
    OK(hsa_memory_free(block));
    OK(hsa_signal_destroy(end));
  }
  --left;
  return NULL;
}

static void threads(void) {
  pthread_t all[8];
  left = 8;
  for (int at = 0; at < 8; ++at) pthread_create(&all[at], NULL, thread, NULL);
  for (int at = 0; at < 8; ++at) pthread_join(all[at], NULL);
  CHECK(left == 0);
}

// Memory is freed while a kernel works on it, at every place that it may be at: the kernel fails, and the process goes on.
static void freed_under_way(int rounds) {
  hsa_signal_t end = new_signal(1);
  void **block = arguments_memory(64);
  hsa_kernel_dispatch_packet_t packet = kernel(code[0], "forever", 256, block, end);
  for (int round = 0; round < rounds; ++round) {
    hsa_queue_t *queue = new_queue();
    int *out = device_memory(4), first = 0;
    OK(hsa_memory_copy(out, &first, 4));
    *block = out;
    hsa_signal_store_screlease(end, 1);
    submit(queue, &packet);
    while (first == 0) OK(hsa_memory_copy(&first, out, 4));
    OK(hsa_memory_free(out));
    wait_for(end);
    CHECK(hsa_signal_load_scacquire(end) < 0);
    OK(hsa_queue_destroy(queue));
  }
  OK(hsa_memory_free(block));
  OK(hsa_signal_destroy(end));
}

// A child cannot use the device, and is told; it ends, with and without the exit handlers.
static void forks(void) {
  hsa_queue_t *queue = new_queue();
  hsa_signal_t end = new_signal(1);
  int *out = device_memory(4), first;
  void **block = arguments_memory(64);
  *block = out;
  hsa_kernel_dispatch_packet_t packet = kernel(code[0], "forever", 64, block, end);
  submit(queue, &packet);
  do OK(hsa_memory_copy(&first, out, 4));
  while (first == 0);
  for (int how = 0; how < 4; ++how) {
    fflush(NULL);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
      alarm(20);
      if (how == 1) {
        hsa_queue_t *other;
        // There would be no thread that takes its packets.
        CHECK(hsa_queue_create(gpu, 64, 0, ignore, NULL, 0, 0, &other) != SUCCESS);
      }
      if (how == 2) hsa_queue_destroy(queue);
      if (how == 3) hsa_shut_down();
      if (how == 0) _exit(0);
      exit(0);
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child);
    if (!WIFEXITED(status) || WEXITSTATUS(status)) fprintf(stderr, "fork %d: %#x\n", how, status);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  }
  OK(hsa_queue_destroy(queue));
  OK(hsa_memory_free(out));
  OK(hsa_memory_free(block));
  OK(hsa_signal_destroy(end));
}

// All of the device's memory goes, in blocks of any size, and comes back.
static void no_memory(void) {
  static void *all[4096];
  for (int round = 0; round < 3; ++round) {
    int count = 0;
    size_t size = (size_t)16 << 20;
    while (size >= 4096 && count < 4096) {
      if (hsa_memory_allocate(device_region, size - next_number() % 4096, &all[count]) == SUCCESS) ++count;
      else size /= 2;
    }
    // Code that is loaded takes memory of it, too.
    hsa_executable_t executable;
    hsa_code_object_reader_t reader;
    void *bytes = read_code("gfx90a", &size);
    OK(hsa_code_object_reader_create_from_memory(bytes, size, &reader));
    OK(hsa_executable_create_alt(1, 0, NULL, &executable));
    hsa_status_t status = hsa_executable_load_agent_code_object(executable, gpu, reader, NULL, NULL);
    CHECK(status == SUCCESS || status == OUT_OF_RESOURCES);
    OK(hsa_executable_destroy(executable));
    OK(hsa_code_object_reader_destroy(reader));
    free(bytes);
    while (count > 0) OK(hsa_memory_free(all[--count]));
  }
}

int main(void) {
  // How much is tried: 10 is what one looks at by hand.
  int much = getenv("ATTACKS") ? atoi(getenv("ATTACKS")) : 1;
  start();
  code[0] = load(gpu);
  wild_branches();
  still_works();
  damaged_code(1000 * much);
  still_works();
  damaged_descriptors(50 * much);
  still_works();
  wild_packets(200 * much);
  still_works();
  threads();
  still_works();
  freed_under_way(500 * much);
  still_works();
  no_memory();
  forks();
  still_works();
  OK(hsa_shut_down());
  // It can be started again.
  OK(hsa_init());
  OK(hsa_shut_down());
  return 0;
}
