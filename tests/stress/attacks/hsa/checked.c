// Eight threads use one queue that all have, and queues of their own, as programs should: kernels, copies that wait for signals,
// barriers, fills, handlers. Every result is compared with a model.
#include "sound.h"

enum { COUNT = 1024 };

static hsa_queue_t *shared;

static bool count_down(int64_t value, void *data) {
    (void)value;
    atomic_fetch_sub((atomic_int *)data, 1);
    return false;
}

typedef struct {
    Random random;
    hsa_queue_t *queues[2];
    hsa_signal_t end, other;
    uint32_t *memory, *copy, *model, *found;
    void **block;
} Thread;

static void until_done(hsa_signal_t signal) {
    while (hsa_signal_wait_scacquire(signal, LT, 1, UINT64_MAX, 0) >= 1);
    if (hsa_signal_load_scacquire(signal) != 0) fail("an operation has failed");
}

// Adds one number to an element: each work-item does so once.
static void add(Thread *thread, hsa_queue_t *queue) {
    uint32_t at = below(&thread->random, COUNT), by = next(&thread->random);
    thread->block[0] = &thread->memory[at];
    memcpy(&thread->block[1], &by, 4);
    hsa_kernel_dispatch_packet_t packet = kernel(code[0], "count", 64, thread->block, thread->end);
    hsa_signal_store_screlease(thread->end, 1);
    submit(queue, &packet);
    until_done(thread->end);
    thread->model[at] += 64 * by;
}

// Sums each row of 64 into the copy.
static void sum(Thread *thread, hsa_queue_t *queue) {
    thread->block[0] = thread->copy;
    thread->block[1] = thread->memory;
    hsa_kernel_dispatch_packet_t packet = kernel(code[0], "reduce", COUNT, thread->block, thread->end);
    hsa_signal_store_screlease(thread->end, 1);
    submit(queue, &packet);
    until_done(thread->end);
    OK(hsa_memory_copy(thread->found, thread->copy, 4 * (COUNT / 64)));
    for (int row = 0; row < COUNT / 64; row++) {
        uint32_t expected = 0;
        for (int i = 0; i < 64; i++) expected += thread->model[64 * row + i];
        if (thread->found[row] != expected) fail("row %d: %u, not %u", row, thread->found[row], expected);
    }
}

// A copy there and back, each behind a signal, the first of which the host changes last.
static void copies(Thread *thread) {
    hsa_signal_t middle = new_signal(1);
    hsa_signal_store_screlease(thread->end, 1);
    hsa_signal_store_screlease(thread->other, 1);
    OK(hsa_amd_memory_async_copy(thread->found, cpu, thread->copy, gpu, 4 * COUNT, 1, &middle, thread->end));
    OK(hsa_amd_memory_async_copy(thread->copy, gpu, thread->memory, gpu, 4 * COUNT, 1, &thread->other, middle));
    hsa_signal_store_screlease(thread->other, 0);
    until_done(thread->end);
    OK(hsa_signal_destroy(middle));
    if (memcmp(thread->found, thread->model, 4 * COUNT)) fail("what is copied there and back is not the same");
}

static void fill(Thread *thread) {
    uint32_t first = below(&thread->random, COUNT), count = 1 + below(&thread->random, COUNT - first);
    uint32_t value = next(&thread->random);
    OK(hsa_amd_memory_fill(thread->memory + first, value, count));
    for (uint32_t i = 0; i < count; i++) thread->model[first + i] = value;
}

// A barrier that the host lets go, and a handler that hears of it.
static void barriers(Thread *thread, hsa_queue_t *queue) {
    atomic_int heard = 1;
    hsa_signal_store_screlease(thread->end, 1);
    hsa_signal_store_screlease(thread->other, 1);
    OK(hsa_amd_signal_async_handler(thread->end, LT, 1, count_down, &heard));
    hsa_barrier_packet_t packet = {.header = BARRIER_AND, .dep_signal = {thread->other},
                                   .completion_signal = thread->end};
    submit(queue, &packet);
    hsa_signal_subtract_screlease(thread->other, 1);
    until_done(thread->end);
    while (atomic_load(&heard) > 0) usleep(100);
}

static void *work(void *number) {
    Thread thread = {random_of((uint64_t)number), {shared, queue_of(notice, 64)}, new_signal(0), new_signal(0),
                     device_memory(4 * COUNT), device_memory(4 * COUNT), calloc(COUNT, 4), malloc(4 * COUNT),
                     arguments_memory(256)};
    OK(hsa_amd_memory_fill(thread.memory, 0, COUNT));
    while (!stress_over()) {
        // A barrier of one thread's would have the others wait in the queue of all.
        hsa_queue_t *queue = thread.queues[below(&thread.random, 2)];
        switch (below(&thread.random, 5)) {
        case 0: add(&thread, queue); break;
        case 1: sum(&thread, queue); break;
        case 2: copies(&thread); break;
        case 3: fill(&thread); break;
        case 4: barriers(&thread, thread.queues[1]); break;
        }
        atomic_fetch_add(&stress_calls, 1);
    }
    OK(hsa_queue_destroy(thread.queues[1]));
    OK(hsa_memory_free(thread.memory));
    OK(hsa_memory_free(thread.copy));
    OK(hsa_memory_free(thread.block));
    OK(hsa_signal_destroy(thread.end));
    OK(hsa_signal_destroy(thread.other));
    free(thread.model);
    free(thread.found);
    return NULL;
}

int main(int argc, char **argv) {
    begins(argc, argv);
    shared = queue_of(notice, 64);
    in_threads(work);
    OK(hsa_queue_destroy(shared));
    return ends();
}
