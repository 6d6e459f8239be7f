// What the attacks on the HSA runtime have in common: a queue that is used as it should be, whose results are checked
// while others do harm.
#ifndef SOUND_H
#define SOUND_H

#include "kernels.h"
#include "stress.h"
#include <pthread.h>

// What has happened to a queue of which nobody expects anything: its kernels may fail.
static inline void ignore(hsa_status_t status, hsa_queue_t *queue, void *data) {
    (void)status, (void)queue, (void)data;
}

// A queue that nothing may happen to.
static inline void notice(hsa_status_t status, hsa_queue_t *queue, void *data) {
    (void)queue, (void)data;
    fail("a sound queue is told of %#x", status);
}

static inline hsa_queue_t *queue_of(hsa_queue_callback_t callback, uint32_t size) {
    hsa_queue_t *queue;
    OK(hsa_queue_create(gpu, size, 0, callback, NULL, 0, 0, &queue));
    return queue;
}

// A queue, a kernel that adds, and what the sum has to be.
typedef struct {
    hsa_queue_t *queue;
    hsa_signal_t end;
    unsigned *total, expected;
    struct {
        unsigned *total;
        unsigned by;
    } *arguments;
    hsa_kernel_dispatch_packet_t packet;
} Sound;

static inline Sound sound(hsa_executable_t executable) {
    Sound sound = {.queue = queue_of(notice, 64), .end = new_signal(0)};
    sound.total = device_memory(4096);
    OK(hsa_memory_copy(sound.total, &sound.expected, 4));
    sound.arguments = arguments_memory(64);
    sound.arguments->total = sound.total;
    sound.packet = kernel(executable, "count", 64, sound.arguments, sound.end);
    return sound;
}

// Adds, and compares.
static inline void use(Sound *sound, Random *random) {
    unsigned found, by = next(random);
    sound->arguments->by = by;
    sound->packet.grid_size_x = 64 * (1 + below(random, 4));
    hsa_signal_store_screlease(sound->end, 1);
    submit(sound->queue, &sound->packet);
    while (hsa_signal_wait_scacquire(sound->end, LT, 1, UINT64_MAX, 0) >= 1);
    if (hsa_signal_load_scacquire(sound->end) != 0) fail("a sound kernel has failed");
    sound->expected += by * sound->packet.grid_size_x;
    OK(hsa_memory_copy(&found, sound->total, 4));
    if (found != sound->expected) fail("the sum is %u, not %u", found, sound->expected);
    atomic_fetch_add(&stress_calls, 1);
}

static inline void put_away(Sound *sound) {
    OK(hsa_queue_destroy(sound->queue));
    OK(hsa_memory_free(sound->total));
    OK(hsa_memory_free(sound->arguments));
    OK(hsa_signal_destroy(sound->end));
}

// The beginning of an attack, with the kernels' code loaded.
static inline void begins(int argc, char **argv) {
    stress_start(argc, argv);
    start();
    code[0] = load(gpu);
}

// Its end.
static inline int ends(void) {
    OK(hsa_executable_destroy(code[0]));
    OK(hsa_shut_down());
    stress_report();
    return 0;
}

// Runs `work` in eight threads, with their numbers.
static inline void in_threads(void *(*work)(void *)) {
    pthread_t threads[THREADS];
    for (size_t i = 0; i < THREADS; i++) CHECK(pthread_create(&threads[i], NULL, work, (void *)i) == 0);
    for (size_t i = 0; i < THREADS; i++) CHECK(pthread_join(threads[i], NULL) == 0);
}

#endif
