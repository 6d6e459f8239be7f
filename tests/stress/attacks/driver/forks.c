// The process forks while its threads call the driver. A child, which has none of the driver's threads, gets an error from
// every call and ends; it never waits. The parent's threads notice nothing.
#include "kernels.h"
#include "stress.h"
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

static CUcontext context;
static Kernels kernels;

static void *work(void *number) {
    Random random = random_of((uint64_t)number);
    CUstream stream;
    CUdeviceptr memory, other;
    uint32_t found, expected = 0;
    OK(cuCtxSetCurrent(context));
    OK(cuStreamCreate(&stream, 1));
    OK(cuMemAlloc_v2(&memory, 128));
    OK(cuMemsetD32Async(memory, 0, 32, stream));
    while (!stress_over()) {
        uint32_t value = next(&random);
        void *parameters[] = {&memory, &value};
        OK(launch(kernels.add, 32, stream, parameters));
        expected += value;
        OK(cuMemAllocAsync(&other, 4096, stream));
        OK(cuMemcpyDtoDAsync_v2(other, memory, 128, stream));
        OK(cuMemcpyDtoHAsync_v2(&found, other, 4, stream));
        OK(cuMemFreeAsync(other, stream));
        OK(cuStreamSynchronize(stream));
        if (found != expected) fail("thread %lu: %u, not %u", (long)number, found, expected);
        atomic_fetch_add(&stress_calls, 1);
    }
    return NULL;
}

// In a child: nothing works, and says so.
static int refused(CUdeviceptr memory) {
    CUdeviceptr other;
    CUmodule module;
    CUstream stream;
    char buffer[64];
    return cuMemAlloc_v2(&other, 64) == NOT_INITIALIZED && cuMemcpyDtoH_v2(buffer, memory, 64) == NOT_INITIALIZED
           && cuCtxSynchronize() == NOT_INITIALIZED && cuStreamCreate(&stream, 0) == NOT_INITIALIZED
           && cuModuleLoadData(&module, KERNELS) == NOT_INITIALIZED && cuMemFree_v2(memory) == NOT_INITIALIZED
           && launch(kernels.empty, 32, NULL, NULL) == NOT_INITIALIZED && cuInit(0) == NOT_INITIALIZED;
}

int main(int argc, char **argv) {
    pthread_t threads[THREADS];
    CUdeviceptr memory;
    stress_start(argc, argv);
    Random random = random_of(THREADS);
    context = start();
    kernels = load_kernels();
    OK(cuMemAlloc_v2(&memory, 4096));
    for (size_t i = 0; i < THREADS; i++) CHECK(pthread_create(&threads[i], NULL, work, (void *)i) == 0);
    while (!stress_over()) {
        int status;
        int handlers = (int)below(&random, 2);
        pid_t child = fork();
        CHECK(child >= 0);
        if (child == 0) {
            int fine = refused(memory);
            // With the exit handlers of the libraries, and without.
            if (fine && handlers) exit(0);
            _exit(fine ? 0 : 3);
        }
        CHECK(waitpid(child, &status, 0) == child);
        if (status != 0) fail("a child ends with status %#x", status);
        atomic_fetch_add(&stress_calls, 1);
    }
    for (size_t i = 0; i < THREADS; i++) CHECK(pthread_join(threads[i], NULL) == 0);
    stress_report();
    return 0;
}
