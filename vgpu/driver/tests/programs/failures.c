// A kernel that strays makes its context fail for good: everything that is queued is skipped, everything that is
// asked answers the error, callbacks are told, and other contexts go on.
#include "kernels.h"
#include <stdatomic.h>
#include <unistd.h>

static atomic_int skipped, told, gate;

static void hold(void *unused) {
    (void)unused;
    while (!atomic_load(&gate)) usleep(50);
}

static void skip(void *unused) {
    (void)unused;
    atomic_fetch_add(&skipped, 1);
}

static void tell(CUstream stream, CUresult result, void *unused) {
    (void)stream;
    (void)unused;
    atomic_store(&told, result);
}

int main(void) {
    CUcontext context = start(), other;
    Kernels kernels = load_kernels();
    CUstream stream, second, created;
    CUevent event, late;
    CUdeviceptr memory;
    float time;
    OK(cuStreamCreate(&stream, 0));
    OK(cuStreamCreate(&second, 1));
    OK(cuEventCreate(&event, 0));
    OK(cuEventCreate(&late, 0));
    OK(cuMemAlloc_v2(&memory, 64));
    OK(cuLaunchHostFunc(stream, hold, NULL));
    OK(launch(kernels.stray, 32, stream, NULL));
    OK(cuEventRecord(event, stream));
    OK(cuLaunchHostFunc(stream, skip, NULL));
    OK(cuStreamAddCallback(stream, tell, NULL, 0));
    OK(cuStreamWaitEvent(second, event, 0));
    OK(cuLaunchHostFunc(second, skip, NULL));
    atomic_store(&gate, 1);
    EXPECT(ILLEGAL_ADDRESS, cuStreamSynchronize(stream));
    EXPECT(ILLEGAL_ADDRESS, cuStreamSynchronize(second));
    // Nobody waits for callbacks of a context that has failed: they may be waiting themselves.
    while (!atomic_load(&told)) usleep(50);
    CHECK(atomic_load(&skipped) == 0 && atomic_load(&told) == ILLEGAL_ADDRESS);

    EXPECT(ILLEGAL_ADDRESS, cuStreamQuery(second));
    EXPECT(ILLEGAL_ADDRESS, cuStreamCreate(&created, 0));
    EXPECT(ILLEGAL_ADDRESS, cuEventQuery(event));
    EXPECT(ILLEGAL_ADDRESS, cuEventSynchronize(event));
    EXPECT(ILLEGAL_ADDRESS, cuEventElapsedTime(&time, event, event));
    EXPECT(ILLEGAL_ADDRESS, cuEventRecord(late, stream));
    EXPECT(ILLEGAL_ADDRESS, cuMemcpyDtoH_v2(&time, memory, 4));
    EXPECT(ILLEGAL_ADDRESS, cuMemAllocAsync(&memory, 64, stream));
    EXPECT(ILLEGAL_ADDRESS, launch(kernels.empty, 1, stream, NULL));
    EXPECT(ILLEGAL_ADDRESS, cuLaunchHostFunc(stream, skip, NULL));
    EXPECT(ILLEGAL_ADDRESS, cuCtxSynchronize());
    // Cleaning up is still possible.
    OK(cuStreamDestroy_v2(stream));
    OK(cuEventDestroy_v2(event));

    // Another context knows nothing of it.
    OK(cuCtxCreate_v2(&other, 0, 0));
    Kernels again = load_kernels();
    OK(launch(again.empty, 32, NULL, NULL));
    OK(cuCtxSynchronize());
    OK(cuCtxDestroy_v2(other));
    OK(cuCtxDestroy_v2(context));
    CHECK(atomic_load(&skipped) == 0);
    return 0;
}
