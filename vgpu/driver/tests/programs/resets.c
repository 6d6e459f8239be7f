// Threads work in a primary context that is reset and made again under them. Calls may fail at any moment; none may hang
// or crash, and when all is over the context is as good as new.
#include "kernels.h"
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

enum { THREADS = 8, SIZE = 1 << 16, SECONDS = 3 };

static atomic_int ends, called;
static atomic_long done;

static void count(void *unused) {
    (void)unused;
    atomic_fetch_add(&called, 1);
}

// A callback may not use the driver; it is told so.
static void told(CUstream stream, CUresult result, void *unused) {
    CUdeviceptr memory;
    (void)result, (void)unused;
    CHECK(cuMemAlloc_v2(&memory, 16) != SUCCESS && cuStreamSynchronize(stream) != SUCCESS);
    atomic_fetch_add(&called, 1);
}

static void tried(CUresult result) { atomic_fetch_add(&done, result == SUCCESS); }

static void work(unsigned *state, char *registered) {
    CUcontext context;
    CUstream stream = NULL;
    CUevent event = NULL;
    CUdeviceptr memory = 0, second = 0, pooled = 0;
    Kernels kernels = {0};
    static char pageable[THREADS * SIZE];
    float time;
    size_t limit;
    if (cuDevicePrimaryCtxRetain(&context, 0) != SUCCESS || cuCtxSetCurrent(context) != SUCCESS) return;
    tried(cuModuleLoadData(&kernels.module, KERNELS));
    tried(cuModuleGetFunction(&kernels.add, kernels.module, "add"));
    tried(cuModuleGetFunction(&kernels.stray, kernels.module, "stray"));
    tried(cuStreamCreate(&stream, *state & 1));
    tried(cuEventCreate(&event, 0));
    tried(cuMemAlloc_v2(&memory, SIZE));
    tried(cuMemAlloc_v2(&second, SIZE));
    tried(cuMemAllocAsync(&pooled, SIZE, stream));
    tried(cuMemHostRegister_v2(registered, SIZE, 0));
    for (int i = 0; i < 20; i++) {
        unsigned one = 1;
        void *parameters[] = {&memory, &one};
        *state = *state * 1664525 + 1013904223;
        switch ((*state >> 10) % 16) {
        case 0: tried(cuLaunchKernel(kernels.add, 16, 1, 1, 256, 1, 1, 0, stream, parameters, NULL)); break;
        case 1: tried(launch(kernels.add, 256, CU_STREAM_PER_THREAD, parameters)); break;
        case 2: tried(cuMemcpyHtoDAsync_v2(memory, pageable, SIZE, stream)); break;
        case 3: tried(cuMemcpyHtoDAsync_v2(memory, registered, SIZE, stream)); break;
        case 4: tried(cuMemcpyDtoHAsync_v2(registered, memory, SIZE, stream)); break;
        case 5: tried(cuMemcpyDtoDAsync_v2(memory, second, SIZE, stream)); break;
        case 6: tried(cuMemcpyPeerAsync(memory, context, second, context, SIZE, stream)); break;
        case 7: tried(cuMemsetD32Async((CUdeviceptr)registered, 3, SIZE / 4, stream)); break;
        case 8: tried(cuStreamSynchronize(stream)); break;
        case 9: tried(cuCtxSynchronize()); break;
        case 10: tried(cuEventRecord(event, stream)); break;
        case 11: tried(cuEventSynchronize(event)), tried(cuEventElapsedTime(&time, event, event)); break;
        case 12: tried(cuStreamAddCallback(stream, told, NULL, 0)); break;
        case 13: tried(cuLaunchHostFunc(stream, count, NULL)); break;
        case 14: tried(cuCtxSetLimit(0, 4096)), tried(cuCtxGetLimit(&limit, 0)); break;
        case 15: if (*state % 16 == 0) tried(launch(kernels.stray, 1, stream, NULL)); break;
        }
    }
    tried(cuMemHostUnregister(registered));
    tried(cuMemFreeAsync(pooled, stream));
    tried(cuMemFree_v2(memory));
    tried(cuMemFree_v2(second));
    tried(cuStreamDestroy_v2(stream));
    tried(cuEventDestroy_v2(event));
    tried(cuModuleUnload(kernels.module));
    tried(cuDevicePrimaryCtxRelease_v2(0));
    OK(cuCtxSetCurrent(NULL));
}

static void *run(void *number) {
    static char registered[THREADS][SIZE] __attribute__((aligned(4096)));
    unsigned state = (unsigned)(uintptr_t)number * 977 + 5;
    while (!atomic_load(&ends)) work(&state, registered[(uintptr_t)number]);
    return NULL;
}

int main(void) {
    pthread_t threads[THREADS];
    CUcontext context;
    CUdeviceptr memory;
    unsigned value = 0, one = 1;
    void *parameters[] = {&memory, &one};
    OK(cuInit(0));
    for (uintptr_t i = 0; i < THREADS; i++) CHECK(pthread_create(&threads[i], NULL, run, (void *)i) == 0);
    // On a busy machine it may take longer until any call has succeeded.
    for (time_t end = time(NULL) + SECONDS; time(NULL) < end || !atomic_load(&called) || !atomic_load(&done); usleep(10000))
        OK(cuDevicePrimaryCtxReset_v2(0));
    atomic_store(&ends, 1);
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    CHECK(atomic_load(&called) > 0 && atomic_load(&done) > 0);
    OK(cuDevicePrimaryCtxReset_v2(0));
    OK(cuDevicePrimaryCtxRetain(&context, 0));
    OK(cuCtxSetCurrent(context));
    Kernels kernels = load_kernels();
    OK(cuMemAlloc_v2(&memory, 4));
    OK(cuMemsetD32_v2(memory, 41, 1));
    OK(launch(kernels.add, 1, NULL, parameters));
    OK(cuMemcpyDtoH_v2(&value, memory, 4));
    CHECK(value == 42);
    OK(cuDevicePrimaryCtxRelease_v2(0));
    return 0;
}
