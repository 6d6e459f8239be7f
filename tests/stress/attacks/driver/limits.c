// Eight threads fill a device that has little memory, by every way to allocate, and free what they have in any order. A
// call succeeds or says that there is no memory; what was allocated holds what was written; at the end all of it is there again.
// environment: GANGWAY_VGPU_MEMORY=64M
#include "kernels.h"
#include "stress.h"
#include <pthread.h>

CUresult cuMemGetInfo_v2(size_t *, size_t *);
CUresult cuMemAllocPitch_v2(CUdeviceptr *, size_t *, size_t, size_t, unsigned);

enum { MOST = 64 };

static CUcontext context;

typedef struct {
    CUdeviceptr address;
    size_t size;
    uint32_t value;
    int is_host;
} Allocation;

static CUresult allocate(Random *random, CUstream stream, Allocation *made) {
    size_t pitch = 0;
    void *host = NULL;
    CUresult result;
    made->size = one_in(random, 4) ? 1 + below(random, 24 << 20) : 1 + below(random, 100000);
    made->size = (made->size + 3) & ~(size_t)3;
    made->is_host = 0;
    switch (below(random, 6)) {
    case 0: case 1: result = cuMemAlloc_v2(&made->address, made->size); break;
    case 2:
        result = cuMemAllocPitch_v2(&made->address, &pitch, made->size / 4 + 4, 4, 4);
        if (result == SUCCESS && pitch < made->size / 4 + 4) fail("a pitch of %zu for %zu bytes", pitch, made->size / 4 + 4);
        break;
    case 3: result = cuMemAllocManaged(&made->address, made->size, 1); break;
    case 4: result = cuMemAllocAsync(&made->address, made->size, stream); break;
    default:
        result = cuMemAllocHost_v2(&host, made->size);
        made->address = (CUdeviceptr)host;
        made->is_host = 1;
    }
    return result;
}

static void release(Random *random, CUstream stream, Allocation *allocation) {
    uint32_t found[2];
    OK(cuMemcpyDtoH_v2(&found[0], allocation->address, 4));
    OK(cuMemcpyDtoH_v2(&found[1], allocation->address + allocation->size - 4, 4));
    if (found[0] != allocation->value || found[1] != allocation->value)
        fail("%zu bytes begin with %u and end with %u, not %u", allocation->size, found[0], found[1], allocation->value);
    if (allocation->is_host) OK(cuMemFreeHost((void *)allocation->address));
    else if (one_in(random, 2)) OK(cuMemFree_v2(allocation->address));
    // Managed memory is not for streams to free.
    else if (cuMemFreeAsync(allocation->address, stream) != SUCCESS) OK(cuMemFree_v2(allocation->address));
}

static void *work(void *number) {
    Random random = random_of((uint64_t)number);
    Allocation had[MOST];
    size_t count = 0;
    CUstream stream;
    OK(cuCtxSetCurrent(context));
    OK(cuStreamCreate(&stream, 0));
    while (!stress_over()) {
        atomic_fetch_add(&stress_calls, 1);
        if (count < MOST && !one_in(&random, 3)) {
            Allocation made;
            CUresult result = allocate(&random, stream, &made);
            if (result != SUCCESS && result != OUT_OF_MEMORY) fail("%zu bytes: %d", made.size, result);
            if (result != SUCCESS) continue;
            made.value = next(&random);
            OK(cuMemsetD32Async(made.address, made.value, made.size / 4, stream));
            had[count++] = made;
        } else if (count > 0) {
            size_t which = below(&random, (uint32_t)count);
            OK(cuStreamSynchronize(stream));
            release(&random, stream, &had[which]);
            had[which] = had[--count];
        }
    }
    OK(cuStreamSynchronize(stream));
    while (count > 0) release(&random, stream, &had[--count]);
    OK(cuStreamSynchronize(stream));
    return NULL;
}

int main(int argc, char **argv) {
    pthread_t threads[THREADS];
    size_t before, after, total;
    stress_start(argc, argv);
    context = start();
    OK(cuMemGetInfo_v2(&before, &total));
    for (size_t i = 0; i < THREADS; i++) CHECK(pthread_create(&threads[i], NULL, work, (void *)i) == 0);
    for (size_t i = 0; i < THREADS; i++) CHECK(pthread_join(threads[i], NULL) == 0);
    OK(cuCtxSynchronize());
    OK(cuMemGetInfo_v2(&after, &total));
    if (after != before) fail("%zu bytes were free, and %zu are", before, after);
    stress_report();
    return 0;
}
