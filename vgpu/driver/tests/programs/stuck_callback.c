// A callback that is told of a fault and does not return, as one that calls `exit` while the main thread has a lock that
// some exit handler wants. Every way to wait ends all the same, with the fault's error, and so does the process.
// A kernel of the context that spins for ever ends, too.
#include "kernels.h"
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

static atomic_int gate, told;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void hold(void *unused) {
    (void)unused;
    while (!atomic_load(&gate)) usleep(50);
}

static void tell(CUstream stream, CUresult result, void *unused) {
    (void)stream;
    (void)unused;
    atomic_store(&told, result);
    pthread_mutex_lock(&lock);
}

// What threads wait with, from before the fault on.
static CUcontext context;
static CUstream stuck, spinning;
static CUevent event;
static CUdeviceptr memory, async;
static CUmodule module;
static char buffer[64], *pinned, *registered;

static CUresult wait_stream(void) { return cuStreamSynchronize(stuck); }
static CUresult wait_spinning(void) { return cuStreamSynchronize(spinning); }
static CUresult wait_event(void) { return cuEventSynchronize(event); }
static CUresult wait_context(void) { return cuCtxSynchronize(); }
static CUresult wait_copy(void) { return cuMemcpyDtoHAsync_v2(buffer, memory, sizeof buffer, stuck); }
static CUresult wait_legacy_copy(void) { return cuMemcpyDtoH_v2(buffer, memory, sizeof buffer); }
static CUresult wait_to_device(void) { return cuMemcpyHtoD_v2(memory, buffer, sizeof buffer); }
static CUresult wait_fill(void) { return cuMemsetD32_v2(memory, 1, 16); }
static CUresult wait_free(void) { return cuMemFree_v2(memory); }
static CUresult wait_free_host(void) { return cuMemFreeHost(pinned); }
static CUresult wait_unregister(void) { return cuMemHostUnregister(registered); }

static CUresult (*const WAITS[])(void) = {
    wait_stream,   wait_spinning, wait_event, wait_context,   wait_copy,       wait_legacy_copy,
    wait_to_device, wait_fill,    wait_free,  wait_free_host, wait_unregister,
};
enum { COUNT = sizeof WAITS / sizeof *WAITS };
static atomic_int waiting;

static void *wait_so(void *number) {
    OK(cuCtxSetCurrent(context));
    atomic_fetch_add(&waiting, 1);
    EXPECT(ILLEGAL_ADDRESS, WAITS[(size_t)number]());
    return NULL;
}

static void at_exit(void) {
    // As libraries clean up.
    cuMemFree_v2(memory);
    cuModuleUnload(module);
    cuCtxDestroy_v2(context);
}

int main(void) {
    CUdeviceptr flags;
    pthread_t threads[COUNT];
    atexit(at_exit);
    context = start();
    Kernels kernels = load_kernels();
    module = kernels.module;
    OK(cuStreamCreate(&stuck, 0));
    OK(cuStreamCreate(&spinning, 1));
    OK(cuEventCreate(&event, 0));
    OK(cuMemAlloc_v2(&memory, 64));
    OK(cuMemAlloc_v2(&flags, 8));
    OK(cuMemsetD32_v2(flags, 0, 2));
    OK(cuMemAllocHost_v2((void **)&pinned, 64));
    registered = malloc(64);
    OK(cuMemHostRegister_v2(registered, 64, 0));
    OK(cuMemAllocAsync(&async, 64, stuck));
    pthread_mutex_lock(&lock);

    OK(cuLaunchHostFunc(stuck, hold, NULL));
    OK(launch(kernels.stray, 32, stuck, NULL));
    OK(cuStreamAddCallback(stuck, tell, NULL, 0));
    OK(cuEventRecord(event, stuck));
    CUdeviceptr answer = flags + 4;
    unsigned never = 1;
    void *parameters[] = {&flags, &answer, &never};
    OK(launch(kernels.await, 32, spinning, parameters));
    for (size_t i = 0; i < COUNT; i++) CHECK(pthread_create(&threads[i], NULL, wait_so, (void *)i) == 0);
    // Some of them may still be on their way: then the fault finds them, or they it.
    while (atomic_load(&waiting) < COUNT) usleep(50);
    atomic_store(&gate, 1);
    for (size_t i = 0; i < COUNT; i++) CHECK(pthread_join(threads[i], NULL) == 0);
    while (!atomic_load(&told)) usleep(50);
    CHECK(atomic_load(&told) == ILLEGAL_ADDRESS);
    EXPECT(ILLEGAL_ADDRESS, cuMemcpyDtoHAsync_v2(buffer, memory, sizeof buffer, stuck));
    EXPECT(ILLEGAL_ADDRESS, cuModuleUnload(module));
    return 0;
}
