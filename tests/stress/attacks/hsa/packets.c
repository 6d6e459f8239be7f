// Eight threads hand in damaged packets, kernels whose descriptors are damaged, and code objects with other bytes, words and
// headers. Whatever comes of them, each call answers, and a sound kernel runs. What it computes is not looked at: wrong code
// writes where it likes.
#include "sound.h"

// A wrong kernel may run for ever; so long it may.
enum { PATIENCE = 3000000 };

// Hands a packet in, and destroys the queue, whether it has come to an end or not.
static void hand_in(const void *packet, hsa_signal_t end) {
    hsa_queue_t *queue = queue_of(ignore, 64);
    hsa_signal_store_screlease(end, 1);
    submit(queue, packet);
    hsa_signal_wait_scacquire(end, LT, 1, PATIENCE, 0);
    OK(hsa_queue_destroy(queue));
    atomic_fetch_add(&stress_calls, 1);
}

static void damage(void *bytes, size_t from, size_t to, Random *random) {
    for (uint32_t changes = 1 + below(random, 4); changes > 0; changes--)
        ((unsigned char *)bytes)[from + below(random, to - from)] = one_in(random, 4) ? 0xff : next(random);
}

static void damaged_packet(void *block, hsa_signal_t end, Random *random) {
    static const char *const names[] = {"count", "stack", "saxpy", "reduce", "packet", "times", "wild", "trap", "wait"};
    const char *name = names[below(random, sizeof names / sizeof *names)];
    hsa_kernel_dispatch_packet_t packet = kernel(code[0], name, 64, block, end);
    damage(&packet, 2, 56, random);
    if (one_in(random, 4)) {
        uint8_t type = next(random);
        // 1 is no packet yet.
        packet.header = (packet.header & ~0xff) | (type == INVALID ? KERNEL_DISPATCH : type);
    }
    if (one_in(random, 8)) packet.completion_signal.handle = next(random);
    hand_in(&packet, end);
}

static void damaged_descriptor(void *block, hsa_signal_t end, Random *random) {
    hsa_executable_t executable = load(gpu);
    hsa_kernel_dispatch_packet_t packet = kernel(executable, one_in(random, 2) ? "stack" : "reduce", 128, block, end);
    unsigned char bytes[64];
    void *descriptor = (void *)(uintptr_t)packet.kernel_object;
    OK(hsa_memory_copy(bytes, descriptor, 64));
    damage(bytes, 0, 64, random);
    OK(hsa_memory_copy(descriptor, bytes, 64));
    hand_in(&packet, end);
    OK(hsa_executable_destroy(executable));
}

typedef struct {
    void *block;
    hsa_signal_t end;
    Random *random;
} Launch;

static hsa_status_t launch(hsa_executable_t executable, hsa_agent_t agent, hsa_executable_symbol_t symbol, void *data) {
    (void)executable, (void)agent;
    Launch *launch = data;
    uint32_t kind;
    OK(hsa_executable_symbol_get_info(symbol, 0, &kind));
    if (kind != 1 || !one_in(launch->random, 6)) return SUCCESS;
    hsa_kernel_dispatch_packet_t packet = {.header = KERNEL_DISPATCH | 1 << 8 | 2 << 9 | 2 << 11, .setup = 1,
        .workgroup_size_x = 64, .workgroup_size_y = 1, .workgroup_size_z = 1, .grid_size_x = 64, .grid_size_y = 1,
        .grid_size_z = 1, .kernarg_address = launch->block, .completion_signal = launch->end};
    OK(hsa_executable_symbol_get_info(symbol, 22, &packet.kernel_object));
    OK(hsa_executable_symbol_get_info(symbol, 13, &packet.group_segment_size));
    OK(hsa_executable_symbol_get_info(symbol, 14, &packet.private_segment_size));
    hand_in(&packet, launch->end);
    return SUCCESS;
}

static void damaged_code(void *block, hsa_signal_t end, Random *random) {
    size_t size;
    unsigned char *bytes = read_code("gfx90a", &size);
    size_t length = one_in(random, 8) ? 1 + below(random, size) : size;
    // The headers, the tables, or anything.
    size_t range = one_in(random, 3) ? 0x200 : one_in(random, 2) ? 0x1000 : size;
    damage(bytes, 0, range < length ? range : length, random);
    hsa_code_object_reader_t reader;
    hsa_executable_t executable;
    OK(hsa_code_object_reader_create_from_memory(bytes, length, &reader));
    OK(hsa_executable_create_alt(1, 0, NULL, &executable));
    if (hsa_executable_load_agent_code_object(executable, gpu, reader, NULL, NULL) == SUCCESS) {
        OK(hsa_executable_freeze(executable, NULL));
        Launch data = {block, end, random};
        OK(hsa_executable_iterate_agent_symbols(executable, gpu, launch, &data));
    }
    OK(hsa_executable_destroy(executable));
    OK(hsa_code_object_reader_destroy(reader));
    free(bytes);
    atomic_fetch_add(&stress_calls, 1);
}

// A kernel that is right comes to its end, unless wrong code has changed its arguments meanwhile.
static void still_computes(void *memory, Random *random) {
    struct { void *total; unsigned by; } *arguments = arguments_memory(64);
    hsa_signal_t end = new_signal(1);
    arguments->total = memory;
    hsa_queue_t *queue = queue_of(ignore, 64);
    hsa_kernel_dispatch_packet_t packet = kernel(code[0], "count", 64 * (1 + below(random, 4)), arguments, end);
    submit(queue, &packet);
    while (hsa_signal_wait_scacquire(end, LT, 1, UINT64_MAX, 0) >= 1);
    if (hsa_signal_load_scacquire(end) < 0 && arguments->total == memory) fail("a sound kernel has failed");
    OK(hsa_queue_destroy(queue));
    OK(hsa_signal_destroy(end));
    OK(hsa_memory_free(arguments));
    atomic_fetch_add(&stress_calls, 1);
}

static void *work(void *number) {
    Random random = random_of((uint64_t)number);
    hsa_signal_t end = new_signal(1);
    // Wrong code writes where it likes: all addresses that it is given are of this.
    void **block = arguments_memory(4096), *memory = device_memory(65536);
    while (!stress_over()) {
        for (int i = 0; i < 512; i++) block[i] = memory;
        switch (below(&random, 4)) {
        case 0: case 1: damaged_packet(block, end, &random); break;
        case 2: damaged_descriptor(block, end, &random); break;
        case 3: damaged_code(block, end, &random); break;
        }
        still_computes(memory, &random);
    }
    OK(hsa_memory_free(memory));
    OK(hsa_memory_free(block));
    OK(hsa_signal_destroy(end));
    return NULL;
}

int main(int argc, char **argv) {
    begins(argc, argv);
    in_threads(work);
    return ends();
}
