// Litmus tests of the memory model between streams, kernels and the host: what one has seen of another's
// writes decides what else it must see.
#include "kernels.h"
#include <pthread.h>
#include <stdatomic.h>

enum { ROUNDS = 300, N = 4096 };

static CUcontext context;
static Kernels kernels;

static CUstream new_stream(void) {
    CUstream stream;
    OK(cuStreamCreate(&stream, 1));
    return stream;
}

static void *pinned(size_t size) {
    void *memory;
    OK(cuMemAllocHost_v2(&memory, size));
    memset(memory, 0, size);
    return memory;
}

// Host to kernel and back, without any call of the API in between: message passing over pinned memory.
static void ping_pong(void) {
    CUstream stream = new_stream();
    _Atomic unsigned *flag = pinned(64), *answer = pinned(64);
    for (unsigned round = 1; round <= ROUNDS; round++) {
        void *parameters[] = {&flag, &answer, &round};
        OK(launch(kernels.await, 1, stream, parameters));
        atomic_store_explicit(flag, round, memory_order_release);
        while (atomic_load_explicit(answer, memory_order_acquire) != round) {}
    }
    OK(cuStreamSynchronize(stream));
}

// Kernels of different streams run at the same time: each waits for the next one.
static void kernels_wait_for_kernels(void) {
    enum { CHAIN = 6 };
    CUstream streams[CHAIN];
    CUdeviceptr flags;
    OK(cuMemAlloc_v2(&flags, (CHAIN + 1) * 64));
    for (int i = 0; i < CHAIN; i++) streams[i] = new_stream();
    for (unsigned round = 1; round <= 10; round++) {
        // In the order in which every one but the last is held up.
        for (int i = 0; i < CHAIN; i++) {
            CUdeviceptr from = flags + (i + 1) * 64, to = flags + i * 64;
            void *parameters[] = {&from, &to, &round};
            OK(launch(kernels.await, 1, streams[i], parameters));
        }
        OK(cuStreamWriteValue32_v2(CU_STREAM_PER_THREAD, flags + CHAIN * 64, round, 0));
        for (int i = 0; i < CHAIN; i++) OK(cuStreamSynchronize(streams[i]));
    }
    OK(cuMemFree_v2(flags));
}

// What a stream has written before a flag is there when the host sees the flag, without synchronising.
static void stream_to_host(void) {
    CUstream stream = new_stream();
    CUdeviceptr memory;
    _Atomic unsigned *flag = pinned(64);
    unsigned *data = pinned(N * 4);
    OK(cuMemAlloc_v2(&memory, N * 4));
    for (unsigned round = 1; round <= ROUNDS; round++) {
        OK(cuMemsetD32Async(memory, round, N, stream));
        OK(cuMemcpyDtoHAsync_v2(data, memory, N * 4, stream));
        OK(cuStreamWriteValue32_v2(stream, (CUdeviceptr)(uintptr_t)flag, round, 0));
        while (atomic_load_explicit(flag, memory_order_acquire) != round) {}
        CHECK(data[0] == round && data[N / 2] == round && data[N - 1] == round);
    }
    OK(cuStreamSynchronize(stream));
    OK(cuMemFree_v2(memory));
}

// What the host has written before a flag is there for a stream that waits for the flag.
static void host_to_stream(void) {
    CUstream stream = new_stream();
    CUdeviceptr memory;
    _Atomic unsigned *flag = pinned(64);
    unsigned *data = pinned(N * 4), *back = pinned(N * 4);
    OK(cuMemAlloc_v2(&memory, N * 4));
    for (unsigned round = 1; round <= ROUNDS; round++) {
        OK(cuStreamWaitValue32_v2(stream, (CUdeviceptr)(uintptr_t)flag, round, 1));
        OK(cuMemcpyHtoDAsync_v2(memory, data, N * 4, stream));
        OK(cuMemcpyDtoHAsync_v2(back, memory, N * 4, stream));
        for (unsigned i = 0; i < N; i++) data[i] = round + i;
        atomic_store_explicit(flag, round, memory_order_release);
        OK(cuStreamSynchronize(stream));
        CHECK(back[0] == round && back[N - 1] == round + N - 1);
    }
    OK(cuMemFree_v2(memory));
}

// Store buffering: an operation's write is there before the next operation of its stream reads. So
// of two streams that write their own word and then read the other's, at least one sees the other.
struct side {
    CUstream stream;
    CUdeviceptr own, others;
    unsigned *seen;
    pthread_barrier_t *barrier;
};

static void *store_then_load(void *data) {
    struct side *side = data;
    OK(cuCtxSetCurrent(context));
    for (unsigned round = 1; round <= 2000; round++) {
        pthread_barrier_wait(side->barrier);
        OK(cuMemsetD32Async(side->own, round, 1, side->stream));
        OK(cuMemcpyDtoHAsync_v2(side->seen, side->others, 4, side->stream));
        OK(cuStreamSynchronize(side->stream));
        pthread_barrier_wait(side->barrier);
        if (side->own < side->others) {
            unsigned other = *side[1].seen;
            CHECK(*side->seen == round || other == round);
        }
        pthread_barrier_wait(side->barrier);
    }
    return NULL;
}

static void store_buffering(void) {
    CUdeviceptr memory;
    pthread_barrier_t barrier;
    pthread_t thread;
    OK(cuMemAlloc_v2(&memory, 256));
    OK(cuMemsetD32_v2(memory, 0, 64));
    pthread_barrier_init(&barrier, NULL, 2);
    struct side sides[2] = {
        {new_stream(), memory, memory + 128, pinned(64), &barrier},
        {new_stream(), memory + 128, memory, pinned(64), &barrier},
    };
    CHECK(pthread_create(&thread, NULL, store_then_load, &sides[1]) == 0);
    store_then_load(&sides[0]);
    pthread_join(thread, NULL);
    OK(cuMemFree_v2(memory));
}

// Order is transitive: a stream to a second, that to a host function, that to a third stream.
static unsigned *relay_from, *relay_to;

static void relay(void *round) {
    CHECK(relay_from[N - 1] == (unsigned)(uintptr_t)round);
    memcpy(relay_to, relay_from, N * 4);
}

static void transitivity(void) {
    CUstream one = new_stream(), two = new_stream(), three = new_stream();
    CUevent first, second;
    CUdeviceptr memory, copy;
    unsigned *result = pinned(N * 4);
    relay_from = pinned(N * 4);
    relay_to = pinned(N * 4);
    OK(cuEventCreate(&first, 2));
    OK(cuEventCreate(&second, 0));
    OK(cuMemAlloc_v2(&memory, N * 4));
    OK(cuMemAlloc_v2(&copy, N * 4));
    for (unsigned round = 1; round <= ROUNDS; round++) {
        OK(cuMemsetD32Async(memory, round, N, one));
        OK(cuMemcpyDtoHAsync_v2(relay_from, memory, N * 4, one));
        OK(cuEventRecord(first, one));
        OK(cuStreamWaitEvent(two, first, 0));
        OK(cuLaunchHostFunc(two, relay, (void *)(uintptr_t)round));
        OK(cuEventRecord(second, two));
        OK(cuStreamWaitEvent(three, second, 0));
        OK(cuMemcpyHtoDAsync_v2(copy, relay_to, N * 4, three));
        OK(cuMemcpyDtoHAsync_v2(result, copy, N * 4, three));
        OK(cuEventRecord(first, three));
        OK(cuStreamWaitEvent(one, first, 0));
        if (round % 3 == 0) {
            OK(cuStreamSynchronize(three));
            CHECK(result[0] == round && result[N - 1] == round);
        }
    }
    OK(cuCtxSynchronize());
    OK(cuMemFree_v2(memory));
    OK(cuMemFree_v2(copy));
}

int main(void) {
    context = start();
    kernels = load_kernels();
    ping_pong();
    stream_to_host();
    host_to_stream();
    store_buffering();
    transitivity();
    kernels_wait_for_kernels();
    OK(cuCtxDestroy_v2(context));
    return 0;
}
