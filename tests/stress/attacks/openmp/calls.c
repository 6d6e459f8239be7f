// Eight threads run regions on all devices, whose threads call functions of the host by chance, with blocks of chance sizes.
// Each answer is checked on the device, each call counted on the host. Meanwhile a ninth thread takes a function away and
// brings it back.
#include "../../../../frontends/openmp/include/gangway/host_call.h"
#include "stress.h"
#include <omp.h>
#include <pthread.h>

// Calls of one thread of a region, and its blocks: small ones, those of several pieces, and those of the device's memory.
enum { CALLS = 10, FUNCTIONS = 5, LOCAL = 700, SHARED = 40000 };

static atomic_long served[FUNCTIONS], device_wrong;

#pragma omp begin declare target
static inline uint64_t mix(uint64_t value) {
    value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9u;
    value = (value ^ value >> 27) * 0x94d049bb133111ebu;
    return value ^ value >> 31;
}

static inline unsigned char byte_of(uint64_t chance, size_t at) { return (unsigned char)(chance >> at % 56); }

static inline unsigned char answer_of(unsigned which, unsigned char byte, size_t at, size_t size) {
    return (unsigned char)(byte * (2 * which + 3) + at * (which + 1) + size);
}
#pragma omp end declare target

static void serve(unsigned which, unsigned char *bytes, size_t size) {
    int device = gangway_host_call_device();
    if (device < 0 || device > omp_get_num_devices()) atomic_fetch_add(&device_wrong, 1);
    for (size_t at = 0; at < size; at++) bytes[at] = answer_of(which, bytes[at], at, size);
    atomic_fetch_add_explicit(&served[which], 1, memory_order_relaxed);
}

__attribute__((unused)) static void zero(void *block, size_t size) { serve(0, block, size); }
__attribute__((unused)) static void one(void *block, size_t size) { serve(1, block, size); }
__attribute__((unused)) static void two(void *block, size_t size) { serve(2, block, size); }
// Regions run inside of it.
__attribute__((unused)) static void three(void *block, size_t size) {
    serve(3, block, size);
    static atomic_long turns;
    if (atomic_fetch_add(&turns, 1) % 4096 != 0) return;
    int x = (int)size;
#pragma omp target map(tofrom : x) device((gangway_host_call_device() + 1) % (omp_get_num_devices() + 1))
    x = 2 * x + 1;
    if (x != 2 * (int)size + 1) fail("a region inside of a function computes %d", x);
}
// It comes and goes.
__attribute__((unused)) static void four(void *block, size_t size) { serve(4, block, size); }
GANGWAY_HOST_FUNCTION(zero);
GANGWAY_HOST_FUNCTION(one);
GANGWAY_HOST_FUNCTION(two);
GANGWAY_HOST_FUNCTION(three);

static void come_and_go(void) {
    while (!stress_over()) {
        if (gangway_register_host_function("four", four)) fail("a function cannot be registered again");
        usleep(2000);
        if (gangway_unregister_host_function("four", four)) fail("a function cannot be taken away");
        usleep(2000);
    }
}

// One region; answers how often each function has run for it.
static void region(int device, long threads, uint64_t seed, long done[FUNCTIONS]) {
    long wrong = 0, zeros = 0, ones = 0, twos = 0, threes = 0, fours = 0;
    unsigned char *shared = malloc((size_t)SHARED * 4);
#pragma omp target teams distribute parallel for device(device) map(to : shared[0 : 4 * SHARED])                       \
    map(tofrom : wrong, zeros, ones, twos, threes, fours) reduction(+ : wrong, zeros, ones, twos, threes, fours)
    for (long i = 0; i < threads; i++) {
        unsigned char local[LOCAL];
        for (int call = 0; call < CALLS; call++) {
            uint64_t chance = mix(seed ^ (uint64_t)(i * CALLS + call));
            unsigned which = (unsigned)(chance % FUNCTIONS);
            // Some threads have a block in the device's memory, for the host to copy.
            int far = i < 4 && call == 0;
            unsigned char *bytes = far ? shared + i * SHARED : local;
            size_t size = (size_t)(chance >> 8) % (far ? SHARED : chance >> 40 & 7 ? 40 : LOCAL);
            for (size_t at = 0; at < size; at++) bytes[at] = byte_of(chance, at);
            uint64_t function = which == 0   ? gangway_host_function("zero")
                                : which == 1 ? gangway_host_function("one")
                                : which == 2 ? gangway_host_function("two")
                                : which == 3 ? gangway_host_function("three")
                                             : gangway_host_function("four");
            int outcome = gangway_host_call(function, bytes, size);
            if (outcome == GANGWAY_HOST_CALL_UNKNOWN && which == 4) {
                for (size_t at = 0; at < size; at++) wrong += bytes[at] != byte_of(chance, at);
                continue;
            }
            wrong += outcome != GANGWAY_HOST_CALL_DONE;
            for (size_t at = 0; at < size; at++)
                wrong += bytes[at] != answer_of(which, byte_of(chance, at), at, size);
            zeros += which == 0, ones += which == 1, twos += which == 2, threes += which == 3, fours += which == 4;
        }
    }
    free(shared);
    if (wrong) fail("%ld bytes or outcomes are wrong on device %d, %ld threads", wrong, device, threads);
    done[0] += zeros, done[1] += ones, done[2] += twos, done[3] += threes, done[4] += fours;
    atomic_fetch_add(&stress_calls, threads * CALLS);
}

static long most, all[FUNCTIONS];

static void *work(void *number) {
    Random random = random_of((uint64_t)(uintptr_t)number);
    uint32_t devices = (uint32_t)omp_get_num_devices() + 1;
    long done[FUNCTIONS] = {0};
    do {
        long threads = one_in(&random, 4) ? most : 1 + below(&random, (uint32_t)most);
        uint64_t seed = (uint64_t)next(&random) << 32 | next(&random);
        region((int)below(&random, devices), threads, seed, done);
    } while (!stress_over());
    for (int which = 0; which < FUNCTIONS; which++)
        __atomic_fetch_add(&all[which], done[which], __ATOMIC_RELAXED);
    return NULL;
}

int main(int argc, char **argv) {
    stress_start(argc, argv);
    // In a long run a hundred thousand threads call at a time, a million times.
    most = stress_end - stress_now() > 30 ? 12500 : 400;
    pthread_t threads[THREADS];
    for (uintptr_t number = 0; number < THREADS; number++)
        if (pthread_create(&threads[number], NULL, work, (void *)number)) fail("no thread can be started");
    come_and_go();
    for (int number = 0; number < THREADS; number++) pthread_join(threads[number], NULL);
    for (int which = 0; which < FUNCTIONS; which++)
        if (all[which] != atomic_load(&served[which]))
            fail("function %d has run %ld times, for %ld calls", which, atomic_load(&served[which]), all[which]);
    if (device_wrong) fail("%ld calls come from no device", atomic_load(&device_wrong));
    stress_report();
    return 0;
}
