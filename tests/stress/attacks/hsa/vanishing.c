// Eight threads destroy queues, memory, code and signals under kernels that run, wait in the queue, or have failed. Each
// has a queue of its own that must stay sound, and memory whose contents must stay.
#include "sound.h"

enum { KEPT = 1 << 10 };

typedef struct {
    hsa_executable_t executable;
    hsa_queue_t *queue;
    hsa_signal_t end;
    void *memory;
    long **block;
} Victim;

static void lose_memory(Victim *victim) {
    if (victim->memory) OK(hsa_memory_free(victim->memory));
    victim->memory = NULL;
}

static void lose_code(Victim *victim) {
    if (victim->executable.handle) OK(hsa_executable_destroy(victim->executable));
    victim->executable.handle = 0;
}

static void lose_queue(Victim *victim) {
    if (victim->queue) OK(hsa_queue_destroy(victim->queue));
    victim->queue = NULL;
}

// Kernels of all kinds, one behind the other: some never end, some fail, some wait for what another one never does.
static void burden(Victim *victim, Random *random) {
    static const char *const names[] = {"forever", "wild", "trap", "wait", "count", "stack", "branch"};
    for (uint32_t left = 1 + below(random, 4); left > 0; left--) {
        const char *name = names[below(random, sizeof names / sizeof *names)];
        hsa_kernel_dispatch_packet_t packet =
            kernel(victim->executable, name, 64 * (1 + below(random, 3)), victim->block, victim->end);
        if (one_in(random, 3)) packet.completion_signal.handle = 0;
        submit(victim->queue, &packet);
        if (one_in(random, 4)) {
            hsa_barrier_packet_t barrier = {.header = one_in(random, 2) ? BARRIER_AND : BARRIER_OR,
                .dep_signal = {victim->end, {0}, victim->end}, .completion_signal = victim->end};
            submit(victim->queue, &barrier);
        }
    }
}

static void round_of(Random *random) {
    Victim victim = {load(gpu), queue_of(ignore, 64), new_signal(1 + below(random, 3)), device_memory(8192),
                     arguments_memory(256)};
    uint64_t zero[1024] = {0};
    OK(hsa_memory_copy(victim.memory, zero, 8192));
    victim.block[0] = victim.memory;
    // A number for some kernels, an address for others.
    victim.block[1] = one_in(random, 2) ? (long *)victim.memory + 8 : (long *)(uintptr_t)next(random);
    burden(&victim, random);
    if (one_in(random, 2)) hsa_signal_wait_scacquire(victim.end, LT, 1, below(random, 2000000), one_in(random, 2));
    // A copy that waits for what may never come.
    hsa_signal_t copied = new_signal(1);
    int copies = one_in(random, 3);
    if (copies)
        OK(hsa_amd_memory_async_copy(victim.block, gpu, victim.memory, gpu, 8, 1, &victim.end, copied));
    for (int left = 3; left > 0; left--) {
        switch (below(random, 4)) {
        // What a copy that waits is about belongs to it until it has ended.
        case 0: if (!copies) lose_memory(&victim); break;
        case 1: lose_code(&victim); break;
        case 2: lose_queue(&victim); break;
        case 3: if (victim.queue) OK(hsa_queue_inactivate(victim.queue)); break;
        }
    }
    lose_queue(&victim);
    if (copies) {
        hsa_signal_store_screlease(victim.end, 0);
        while (hsa_signal_wait_scacquire(copied, LT, 1, UINT64_MAX, 0) >= 1);
    }
    lose_memory(&victim);
    lose_code(&victim);
    OK(hsa_memory_free(victim.block));
    OK(hsa_signal_destroy(victim.end));
    OK(hsa_signal_destroy(copied));
    atomic_fetch_add(&stress_calls, 1);
}

static void *work(void *number) {
    Random random = random_of((uint64_t)number);
    Sound own = sound(code[0]);
    uint32_t model[KEPT], found[KEPT], *kept = device_memory(sizeof model);
    for (uint32_t i = 0; i < KEPT; i++) model[i] = next(&random);
    OK(hsa_memory_copy(kept, model, sizeof model));
    while (!stress_over()) {
        round_of(&random);
        use(&own, &random);
        OK(hsa_memory_copy(found, kept, sizeof found));
        if (memcmp(found, model, sizeof found)) fail("thread %lu: memory has changed", (long)number);
    }
    OK(hsa_memory_free(kept));
    put_away(&own);
    return NULL;
}

int main(int argc, char **argv) {
    begins(argc, argv);
    in_threads(work);
    return ends();
}
