// Host threads that race on every family of the API: each checks results in memory of its own, while handles
// that all share are created, used and destroyed under each other's feet.
#include "kernels.h"
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

enum { THREADS = 8, SHARED = 4, N = 256 };

static CUcontext context;
static atomic_uintptr_t streams[SHARED], events[SHARED];
static atomic_int callbacks, destroyed;
static double end;

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec + time.tv_nsec * 1e-9;
}

static unsigned draw(unsigned *state) {
    *state = *state * 1664525 + 1013904223;
    return *state >> 8;
}

static void count(void *unused) {
    (void)unused;
    atomic_fetch_add(&callbacks, 1);
}

static void count_destroyed(void *unused) {
    (void)unused;
    atomic_fetch_add(&destroyed, 1);
}

static void told(CUstream stream, CUresult result, void *data) {
    CHECK(stream != NULL && result == SUCCESS);
    count(data);
}

// A handle that another thread may destroy at any moment is either good or known to be none.
#define MAYBE(call)                                                                                              \
    do {                                                                                                         \
        CUresult got_ = (call);                                                                                  \
        if (got_ != SUCCESS && got_ != INVALID_HANDLE && got_ != NOT_READY) {                                    \
            fprintf(stderr, "%s:%d: %s gives %d\n", __FILE__, __LINE__, #call, got_);                            \
            exit(1);                                                                                             \
        }                                                                                                        \
    } while (0)

static void replace_shared(unsigned at) {
    CUstream stream;
    CUevent event;
    OK(cuStreamCreateWithPriority(&stream, at & 1, -(int)(at % 4)));
    MAYBE(cuStreamDestroy_v2((CUstream)atomic_exchange(&streams[at % SHARED], (uintptr_t)stream)));
    OK(cuEventCreate(&event, 0));
    MAYBE(cuEventDestroy_v2((CUevent)atomic_exchange(&events[at % SHARED], (uintptr_t)event)));
}

static void use_shared(unsigned *state, CUdeviceptr scratch) {
    CUstream stream = (CUstream)atomic_load(&streams[draw(state) % SHARED]);
    CUevent event = (CUevent)atomic_load(&events[draw(state) % SHARED]);
    float time;
    switch (draw(state) % 10) {
    case 0: MAYBE(cuEventRecord(event, stream)); break;
    case 1: MAYBE(cuStreamWaitEvent(stream, event, 0)); break;
    case 2: MAYBE(cuEventQuery(event)); break;
    case 3: MAYBE(cuEventSynchronize(event)); break;
    case 4: MAYBE(cuStreamQuery(stream)); break;
    case 5: MAYBE(cuStreamSynchronize(stream)); break;
    case 6: MAYBE(cuEventElapsedTime(&time, event, (CUevent)atomic_load(&events[0]))); break;
    case 7: MAYBE(cuLaunchHostFunc(stream, count, NULL)); break;
    case 8: MAYBE(cuMemsetD32Async(scratch, 1, N, stream)); break;
    case 9: MAYBE(cuStreamAddCallback(stream, told, NULL, 0)); break;
    }
}

// memset, kernels, copies in a stream of its own; the result is known.
static void compute(Kernels *kernels, CUstream stream, CUdeviceptr memory, unsigned *host, unsigned value) {
    void *add[] = {&memory, &value}, *twice[] = {&memory};
    OK(cuMemsetD32Async(memory, value, N, stream));
    OK(launch(kernels->add, N, stream, add));
    OK(launch(kernels->twice, N, stream, twice));
    OK(cuMemcpyDtoHAsync_v2(host, memory, N * 4, stream));
    OK(cuStreamSynchronize(stream));
    for (unsigned i = 0; i < N; i++) CHECK(host[i] == value * 4 + i);
}

static void pools(CUstream stream, unsigned *host, unsigned value) {
    CUdeviceptr memory;
    OK(cuMemAllocAsync(&memory, N * 4, stream));
    OK(cuMemsetD32Async(memory, value, N, stream));
    OK(cuMemcpyDtoHAsync_v2(host, memory, N * 4, stream));
    OK(cuMemFreeAsync(memory, stream));
    OK(cuStreamSynchronize(stream));
    CHECK(host[0] == value && host[N - 1] == value);
}

static void graphs(Kernels *kernels, CUstream stream, CUdeviceptr memory, unsigned *host, unsigned value) {
    CUgraph graph, copy;
    CUgraphExec exec;
    CUuserObject object;
    void *add[] = {&memory, &value};
    // Non-blocking: other threads use the legacy stream, which must not meet a capture.
    CUstream captured;
    OK(cuStreamCreate(&captured, 1));
    OK(cuStreamBeginCapture_v2(captured, 2));
    OK(cuMemsetD32Async(memory, value, N, captured));
    OK(launch(kernels->add, N, captured, add));
    OK(cuMemcpyDtoHAsync_v2(host, memory, N * 4, captured));
    OK(cuStreamEndCapture(captured, &graph));
    OK(cuStreamDestroy_v2(captured));
    OK(cuUserObjectCreate(&object, NULL, count_destroyed, 1, 1));
    OK(cuGraphRetainUserObject(graph, object, 1, 1));
    OK(cuGraphClone(&copy, graph));
    OK(cuGraphInstantiateWithFlags(&exec, copy, 0));
    OK(cuGraphExecUpdate_v2(exec, graph, NULL));
    OK(cuGraphDestroy(graph));
    OK(cuGraphLaunch(exec, stream));
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(copy));
    OK(cuStreamSynchronize(stream));
    for (unsigned i = 0; i < N; i += 17) CHECK(host[i] == 2 * value);
}

static void modules(unsigned *host) {
    Kernels own = load_kernels();
    CUdeviceptr memory;
    unsigned one = 1;
    void *add[] = {&memory, &one};
    OK(cuMemAlloc_v2(&memory, N * 4));
    OK(cuMemsetD32_v2(memory, 6, N));
    OK(launch(own.add, N, CU_STREAM_PER_THREAD, add));
    OK(cuStreamSynchronize(CU_STREAM_PER_THREAD));
    OK(cuMemcpyDtoH_v2(host, memory, N * 4));
    CHECK(host[0] == 7 && host[N - 1] == 7);
    OK(cuMemFree_v2(memory));
    OK(cuModuleUnload(own.module));
}

static void contexts(CUdevice device) {
    CUcontext own, before;
    CUstream stream;
    CUdeviceptr memory;
    OK(cuCtxGetCurrent(&before));
    OK(cuCtxCreate_v2(&own, 0, device));
    OK(cuStreamCreate(&stream, 0));
    OK(cuMemAlloc_v2(&memory, 4096));
    OK(cuMemsetD32Async(memory, 5, 1024, stream));
    OK(cuLaunchHostFunc(stream, count, NULL));
    OK(cuCtxDestroy_v2(own));
    OK(cuCtxSetCurrent(before));
}

static void *run(void *number) {
    unsigned state = (unsigned)(uintptr_t)number * 7919 + 1;
    Kernels kernels;
    CUstream stream;
    CUdeviceptr memory, scratch;
    unsigned *host;
    OK(cuCtxSetCurrent(context));
    kernels = load_kernels();
    OK(cuStreamCreate(&stream, (unsigned)(uintptr_t)number & 1));
    OK(cuMemAlloc_v2(&memory, N * 4));
    OK(cuMemAlloc_v2(&scratch, N * 4));
    OK(cuMemAllocHost_v2((void **)&host, N * 4));
    do {
        switch (draw(&state) % 20) {
        case 0: replace_shared(draw(&state)); break;
        case 1: pools(stream, host, draw(&state)); break;
        case 2: graphs(&kernels, stream, memory, host, draw(&state)); break;
        case 3: modules(host); break;
        case 4: contexts((CUdevice)(draw(&state) % 2)); break;
        case 5: OK(cuCtxSynchronize()); break;
        case 6: OK(launch(kernels.empty, 32, NULL, NULL)); break;
        case 7 ... 11: compute(&kernels, stream, memory, host, draw(&state)); break;
        default: use_shared(&state, scratch); break;
        }
        // On a busy machine it may take longer until each of them has happened.
    } while (now() < end || atomic_load(&callbacks) == 0 || atomic_load(&destroyed) == 0);
    OK(cuCtxSynchronize());
    OK(cuStreamDestroy_v2(stream));
    OK(cuMemFree_v2(memory));
    OK(cuMemFree_v2(scratch));
    OK(cuMemFreeHost(host));
    OK(cuModuleUnload(kernels.module));
    return NULL;
}

int main(void) {
    context = start();
    pthread_t threads[THREADS];
    for (unsigned i = 0; i < SHARED; i++) replace_shared(i);
    end = now() + 4;
    for (uintptr_t i = 0; i < THREADS; i++) CHECK(pthread_create(&threads[i], NULL, run, (void *)i) == 0);
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    OK(cuCtxSynchronize());
    CHECK(atomic_load(&callbacks) > 0 && atomic_load(&destroyed) > 0);
    OK(cuCtxDestroy_v2(context));
    return 0;
}
