// Eight threads use one context as programs should - streams, events, copies, fills, kernels, pools - and compare every
// result. What another thread does must not show.
#include "kernels.h"
#include "stress.h"
#include <pthread.h>

enum { COUNT = 4096 };

static CUcontext context;
static Kernels kernels;

static void *work(void *number) {
    Random random = random_of((uint64_t)number);
    CUstream streams[3];
    CUevent event;
    CUdeviceptr memory, copy;
    uint32_t *model = calloc(COUNT, 4), *found, *pageable = malloc(4 * COUNT);
    OK(cuCtxSetCurrent(context));
    for (int i = 0; i < 3; i++) OK(cuStreamCreate(&streams[i], i == 0 ? 0 : 1));
    OK(cuEventCreate(&event, 2));
    OK(cuMemAlloc_v2(&memory, 4 * COUNT));
    OK(cuMemAllocHost_v2((void **)&found, 4 * COUNT));
    OK(cuMemsetD32_v2(memory, 0, COUNT));
    CUstream stream = streams[0];
    while (!stress_over()) {
        // One kind of work after another; the event keeps the order where the stream changes.
        CUstream other = streams[below(&random, 3)];
        if (other != stream) {
            OK(cuEventRecord(event, stream));
            OK(cuStreamWaitEvent(other, event, 0));
            stream = other;
        }
        uint32_t first = below(&random, COUNT), count = 1 + below(&random, COUNT - first), value = next(&random);
        switch (below(&random, 7)) {
        case 0:
            OK(cuMemsetD32Async(memory + 4 * first, value, count, stream));
            for (uint32_t i = 0; i < count; i++) model[first + i] = value;
            break;
        case 1: {
            void *parameters[] = {&memory, &value};
            OK(cuLaunchKernel(kernels.add, COUNT / 256, 1, 1, 256, 1, 1, 0, stream, parameters, NULL));
            for (uint32_t i = 0; i < COUNT; i++) model[i] += value;
            break;
        }
        case 2: {
            void *parameters[] = {&memory};
            OK(cuLaunchKernel(kernels.twice, COUNT / 128, 1, 1, 128, 1, 1, 0, stream, parameters, NULL));
            for (uint32_t i = 0; i < COUNT; i++) model[i] = 2 * model[i] + i;
            break;
        }
        case 3:
            for (uint32_t i = 0; i < count; i++) pageable[i] = model[first + i] = next(&random);
            OK(cuMemcpyHtoDAsync_v2(memory + 4 * first, pageable, 4 * count, stream));
            // It is this thread's again.
            memset(pageable, 0xff, 4 * count);
            break;
        case 4:
            OK(cuMemAllocAsync(&copy, 4 * COUNT, stream));
            OK(cuMemcpyDtoDAsync_v2(copy, memory, 4 * COUNT, stream));
            OK(cuMemsetD32Async(memory, 0, COUNT, stream));
            OK(cuMemcpyDtoDAsync_v2(memory, copy, 4 * COUNT, stream));
            OK(cuMemFreeAsync(copy, stream));
            break;
        case 5:
            OK(cuMemFree_v2(0));
            OK(cuMemAlloc_v2(&copy, 4 * count));
            OK(cuMemcpyDtoDAsync_v2(copy, memory + 4 * first, 4 * count, stream));
            OK(cuStreamSynchronize(stream));
            OK(cuMemcpyDtoH_v2(pageable, copy, 4 * count));
            if (memcmp(pageable, model + first, 4 * count)) fail("thread %lu: a copy is wrong", (long)number);
            OK(cuMemFree_v2(copy));
            break;
        case 6:
            OK(cuMemcpyDtoHAsync_v2(found, memory, 4 * COUNT, stream));
            OK(cuStreamSynchronize(stream));
            for (uint32_t i = 0; i < COUNT; i++)
                if (found[i] != model[i])
                    fail("thread %lu: element %u is %u, not %u", (long)number, i, found[i], model[i]);
            break;
        }
        atomic_fetch_add(&stress_calls, 1);
    }
    OK(cuCtxSynchronize());
    OK(cuMemFree_v2(memory));
    OK(cuMemFreeHost(found));
    free(model);
    free(pageable);
    return NULL;
}

int main(int argc, char **argv) {
    pthread_t threads[THREADS];
    stress_start(argc, argv);
    context = start();
    kernels = load_kernels();
    for (size_t i = 0; i < THREADS; i++) CHECK(pthread_create(&threads[i], NULL, work, (void *)i) == 0);
    for (size_t i = 0; i < THREADS; i++) CHECK(pthread_join(threads[i], NULL) == 0);
    stress_report();
    return 0;
}
