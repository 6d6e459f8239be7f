// Eight threads free memory, unload modules and destroy contexts under work that is queued or runs: copies of one to three
// dimensions, fills of all widths, kernels, graphs. Each thread has memory of its own that it checks, in a context of its
// own that must stay sound; errors are for those who use what has gone.
#include "kernels.h"
#include "stress.h"
#include <pthread.h>
#include <sys/mman.h>

enum { SIZE = 1 << 18, KEPT = 1 << 12 };

// Errors that work on memory that has gone may end with, at the call or later.
static int is_expected(CUresult result) {
    static const CUresult expected[] = {SUCCESS, INVALID_VALUE, 201, INVALID_HANDLE, 500, ILLEGAL_ADDRESS, 709, 712, 713};
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
        if (result == expected[i]) return 1;
    return 0;
}

#define MAY(call)                                                                                                \
    do {                                                                                                         \
        CUresult got_ = (call);                                                                                  \
        atomic_fetch_add(&stress_calls, 1);                                                                      \
        if (!is_expected(got_)) fail("%s gives %d", #call, got_);                                                \
    } while (0)

static const char MODULE[] = ".version 7.0\n.target sm_70\n.address_size 64\n"
                             ".visible .global .align 16 .b8 v[262144];\n";

typedef struct {
    Random random;
    CUcontext mine, victim;
    CUstream stream, other;
    CUdeviceptr safe, kept;
    CUmodule module;
    CUmemoryPool pool;
    Kernels kernels;
    char *pinned;
} Thread;

static CUdeviceptr get(Thread *thread, int way) {
    CUdeviceptr memory = 0;
    void *host = NULL;
    CUresult result = SUCCESS;
    OK(cuCtxSetCurrent(thread->victim));
    switch (way) {
    case 0: case 1: result = cuMemAlloc_v2(&memory, SIZE); break;
    case 2: result = cuMemAllocManaged(&memory, SIZE, 1); break;
    case 3: result = cuMemAllocHost_v2(&host, SIZE); break;
    case 4: case 5: result = cuMemAllocAsync(&memory, SIZE, thread->other); break;
    case 6: result = cuMemAllocFromPoolAsync(&memory, SIZE, thread->pool, thread->other); break;
    case 7:
        result = cuModuleLoadData(&thread->module, MODULE);
        if (result == SUCCESS) result = cuModuleGetGlobal_v2(&memory, NULL, thread->module, "v");
        break;
    case 8: case 9:
        host = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        result = cuMemHostRegister_v2(host, SIZE, 1);
        break;
    }
    // There may be no memory left for a moment, as what is still at work is not free yet.
    if (result != SUCCESS && result != OUT_OF_MEMORY) fail("memory of kind %d: %d", way, result);
    return result == SUCCESS ? host ? (CUdeviceptr)host : memory : 0;
}

static void lose(Thread *thread, int way, CUdeviceptr memory) {
    OK(cuCtxSetCurrent(thread->victim));
    switch (way) {
    case 0: case 2: MAY(cuMemFree_v2(memory)); break;
    case 1: case 4: MAY(cuMemFreeAsync(memory, thread->other)); break;
    case 3: MAY(cuMemFreeHost((void *)memory)); break;
    case 5: MAY(cuMemFree_v2(memory)); break;
    case 6:
        MAY(cuMemFreeAsync(memory, thread->other));
        MAY(cuMemPoolTrimTo(thread->pool, 0));
        break;
    case 7: MAY(cuModuleUnload(thread->module)); break;
    case 8:
        MAY(cuMemHostUnregister((void *)memory));
        munmap((void *)memory, SIZE);
        break;
    case 9:
        // Taken away behind the driver's back, but not for others to have: a copy may still be on its way there.
        mmap((void *)memory, SIZE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
        MAY(cuMemHostUnregister((void *)memory));
        munmap((void *)memory, SIZE);
        break;
    }
}

static void use(Thread *thread, CUdeviceptr memory, int is_host) {
    Random *random = &thread->random;
    CUstream stream = thread->stream;
    size_t offset = below(random, 1000) * 4, size = 4 + below(random, SIZE - 4004) / 4 * 4;
    char values[4096] = {1};
    if (is_host) {
        if (one_in(random, 2)) MAY(cuMemcpyHtoDAsync_v2(thread->safe, (void *)(memory + offset), size, stream));
        else MAY(cuMemcpyDtoHAsync_v2((void *)(memory + offset), thread->safe, size, stream));
        return;
    }
    switch (below(random, 15)) {
    case 0: MAY(cuMemcpyHtoDAsync_v2(memory + offset, values, sizeof values, stream)); break;
    case 1: MAY(cuMemcpyHtoDAsync_v2(memory + offset, thread->pinned, size, stream)); break;
    case 2: MAY(cuMemcpyDtoHAsync_v2(thread->pinned, memory + offset, size, stream)); break;
    case 3: MAY(cuMemcpyDtoDAsync_v2(memory + offset, thread->safe, size, stream)); break;
    case 4: MAY(cuMemcpyAsync(thread->safe, memory + offset, size, stream)); break;
    case 5: MAY(cuMemcpyPeerAsync(memory, thread->mine, thread->safe, thread->mine, size, stream)); break;
    case 6: {
        Memcpy2D copy = {.srcType = 2, .srcDevice = thread->safe, .srcPitch = 512, .dstType = 2, .dstDevice = memory,
                         .dstPitch = 256, .width = 1 + below(random, 256), .height = 1 + below(random, 500)};
        MAY(cuMemcpy2DAsync_v2(&copy, stream));
        break;
    }
    case 7: {
        Memcpy3D copy = {.srcType = 2, .srcDevice = memory, .srcPitch = 64, .srcHeight = 20, .dstType = 2,
                         .dstDevice = thread->safe, .dstPitch = 64, .dstHeight = 16, .width = 1 + below(random, 64),
                         .height = 1 + below(random, 16), .depth = 1 + below(random, 100)};
        MAY(cuMemcpy3DAsync_v2(&copy, stream));
        break;
    }
    case 8: MAY(cuMemsetD8Async(memory + offset, 1, size, stream)); break;
    case 9: MAY(cuMemsetD16Async(memory + offset, 1, size / 2, stream)); break;
    case 10: MAY(cuMemsetD32Async(memory + offset, 1, size / 4, stream)); break;
    case 11: MAY(cuMemsetD2D32Async(memory, 512, 1, 100, 1 + below(random, 500), stream)); break;
    case 12: {
        unsigned one = 1;
        void *parameters[] = {&memory, &one};
        MAY(cuLaunchKernel(thread->kernels.add, SIZE / 1024, 1, 1, 256, 1, 1, 0, stream, parameters, NULL));
        break;
    }
    case 13: MAY(cuStreamWriteValue32_v2(stream, memory + offset, 1, 0)); break;
    case 14: {
        MemsetNode fill = {.dst = memory, .value = 7, .elementSize = 4, .width = size / 4, .height = 1};
        CUgraphNode node;
        CUgraph graph;
        CUgraphExec exec;
        if (cuGraphCreate(&graph, 0) != SUCCESS) break;
        if (cuGraphAddMemsetNode(&node, graph, NULL, 0, &fill, thread->mine) == SUCCESS
            && cuGraphInstantiateWithFlags(&exec, graph, 0) == SUCCESS) {
            MAY(cuGraphLaunch(exec, stream));
            OK(cuGraphExecDestroy(exec));
        }
        OK(cuGraphDestroy(graph));
    }
    }
}

static void round_of(Thread *thread) {
    Random *random = &thread->random;
    PoolProperties properties = {.allocType = 1, .location = {1, 0}};
    OK(cuCtxCreate_v2(&thread->victim, 0, (int)below(random, 2)));
    OK(cuStreamCreate(&thread->other, 1));
    OK(cuMemPoolCreate(&thread->pool, &properties));
    OK(cuCtxCreate_v2(&thread->mine, 0, 0));
    OK(cuStreamCreate(&thread->stream, 1));
    OK(cuMemAlloc_v2(&thread->safe, SIZE));
    OK(cuMemAllocHost_v2((void **)&thread->pinned, SIZE));
    thread->kernels = load_kernels();
    for (int turn = 0; turn < 30; turn++) {
        int way = (int)below(random, 10);
        CUdeviceptr memory = get(thread, way);
        if (memory == 0) continue;
        OK(cuCtxSetCurrent(thread->mine));
        for (uint32_t uses = below(random, 4); uses > 0; uses--) use(thread, memory, way >= 8);
        if (one_in(random, 12)) break;
        lose(thread, way, memory);
        if (one_in(random, 4)) {
            OK(cuCtxSetCurrent(thread->mine));
            MAY(cuStreamSynchronize(thread->stream));
        }
    }
    // In either order, and with whatever is still at work.
    OK(cuCtxDestroy_v2(one_in(random, 2) ? thread->victim : thread->mine));
    cuCtxDestroy_v2(thread->victim);
    cuCtxDestroy_v2(thread->mine);
    OK(cuMemPoolDestroy(thread->pool));
}

static CUcontext sound;

static void *work(void *number) {
    Thread thread = {.random = random_of((uint64_t)number)};
    static const uint32_t zero[KEPT / 4];
    uint32_t found[KEPT / 4];
    OK(cuCtxSetCurrent(sound));
    OK(cuMemAlloc_v2(&thread.kept, KEPT));
    while (!stress_over()) {
        OK(cuCtxSetCurrent(sound));
        OK(cuMemsetD32_v2(thread.kept, next(&thread.random), KEPT / 4));
        OK(cuMemcpyDtoH_v2(found, thread.kept, 4));
        uint32_t value = found[0];
        round_of(&thread);
        OK(cuCtxSetCurrent(sound));
        OK(cuMemcpyDtoH_v2(found, thread.kept, KEPT));
        for (size_t i = 0; i < KEPT / 4; i++)
            if (found[i] != value) fail("thread %lu: its memory has changed at %zu", (long)number, i);
        OK(cuMemcpyHtoD_v2(thread.kept, zero, KEPT));
    }
    return NULL;
}

int main(int argc, char **argv) {
    pthread_t threads[THREADS];
    stress_start(argc, argv);
    sound = start();
    for (size_t i = 0; i < THREADS; i++) CHECK(pthread_create(&threads[i], NULL, work, (void *)i) == 0);
    for (size_t i = 0; i < THREADS; i++) CHECK(pthread_join(threads[i], NULL) == 0);
    stress_report();
    return 0;
}
