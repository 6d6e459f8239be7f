// Memory that goes away under queued and running work. What runs after its memory has gone fails with the error of
// an illegal address; what is at work when it goes ends either way; the process goes on in any case.
#include "kernels.h"
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <unistd.h>

enum { SIZE = 1 << 16, LARGE = 256 << 20 };

static atomic_int gate;

static void hold(void *unused) {
    (void)unused;
    while (!atomic_load(&gate)) usleep(50);
}

// The context whose stream works, another one whose memory goes, and streams of each.
static CUcontext worker, owner;
static CUstream stream, other;
static CUdeviceptr safe;
static char *pinned;
static Kernels kernels;

static void begin(void) {
    atomic_store(&gate, 0);
    OK(cuCtxCreate_v2(&owner, 0, 0));
    OK(cuStreamCreate(&other, 1));
    OK(cuCtxCreate_v2(&worker, 0, 0));
    OK(cuStreamCreate(&stream, 1));
    OK(cuMemAlloc_v2(&safe, SIZE));
    OK(cuMemAllocHost_v2((void **)&pinned, SIZE));
    kernels = load_kernels();
}

static void end(CUresult expected, const char *way, const char *operation) {
    atomic_store(&gate, 1);
    OK(cuCtxSetCurrent(worker));
    CUresult result = cuStreamSynchronize(stream);
    if (result != expected) {
        fprintf(stderr, "%s after %s gives %d, not %d\n", operation, way, result, expected);
        exit(1);
    }
    OK(cuCtxDestroy_v2(worker));
    cuCtxDestroy_v2(owner);
}

// Ways to lose memory. Each gives an address, and takes the memory away when it is asked to.
typedef struct {
    const char *name;
    CUdeviceptr (*get)(size_t size);
    void (*lose)(CUdeviceptr memory);
} Way;

static CUdeviceptr get_ordinary(size_t size) {
    CUdeviceptr memory;
    OK(cuCtxSetCurrent(owner));
    OK(cuMemAlloc_v2(&memory, size));
    OK(cuCtxSetCurrent(worker));
    return memory;
}

static CUdeviceptr get_managed(size_t size) {
    CUdeviceptr memory;
    OK(cuCtxSetCurrent(owner));
    OK(cuMemAllocManaged(&memory, size, 1));
    OK(cuCtxSetCurrent(worker));
    return memory;
}

static CUdeviceptr get_pinned(size_t size) {
    void *memory;
    OK(cuCtxSetCurrent(owner));
    OK(cuMemAllocHost_v2(&memory, size));
    OK(cuCtxSetCurrent(worker));
    return (CUdeviceptr)memory;
}

static void lose_ordinary(CUdeviceptr memory) {
    OK(cuCtxSetCurrent(owner));
    OK(cuMemFree_v2(memory));
}

static void lose_pinned(CUdeviceptr memory) {
    OK(cuCtxSetCurrent(owner));
    OK(cuMemFreeHost((void *)memory));
}

static void lose_context(CUdeviceptr memory) {
    (void)memory;
    OK(cuCtxDestroy_v2(owner));
}

static CUdeviceptr get_async(size_t size) {
    CUdeviceptr memory;
    OK(cuMemAllocAsync(&memory, size, other));
    OK(cuStreamSynchronize(other));
    return memory;
}

static void lose_async(CUdeviceptr memory) {
    OK(cuMemFreeAsync(memory, other));
    OK(cuStreamSynchronize(other));
}

static CUmemoryPool pool;

static CUdeviceptr get_pool(size_t size) {
    PoolProperties properties = {.allocType = 1, .location = {1, 0}};
    uint64_t all = UINT64_MAX;
    CUdeviceptr memory;
    OK(cuMemPoolCreate(&pool, &properties));
    OK(cuMemPoolSetAttribute(pool, 4, &all));
    OK(cuMemAllocFromPoolAsync(&memory, size, pool, other));
    OK(cuStreamSynchronize(other));
    return memory;
}

static void lose_by_trim(CUdeviceptr memory) {
    lose_async(memory);
    OK(cuMemPoolTrimTo(pool, 0));
    OK(cuMemPoolDestroy(pool));
}

static void lose_pool(CUdeviceptr memory) {
    lose_async(memory);
    OK(cuMemPoolDestroy(pool));
}

static CUgraph graph;

static CUdeviceptr get_graph(size_t size) {
    AllocationNode allocation = {.properties = {.allocType = 1, .location = {1, 0}}, .size = size};
    CUgraphNode node;
    CUgraphExec exec;
    OK(cuGraphCreate(&graph, 0));
    OK(cuGraphAddMemAllocNode(&node, graph, NULL, 0, &allocation));
    OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    OK(cuGraphLaunch(exec, other));
    OK(cuStreamSynchronize(other));
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(graph));
    return allocation.address;
}

static CUmodule module;

static CUdeviceptr get_global(size_t size) {
    char text[300];
    CUdeviceptr memory;
    snprintf(text, sizeof text, ".version 7.0\n.target sm_70\n.address_size 64\n.visible .global .align 16 .b8 v[%zu];\n",
             size);
    OK(cuCtxSetCurrent(owner));
    OK(cuModuleLoadData(&module, text));
    OK(cuModuleGetGlobal_v2(&memory, NULL, module, "v"));
    OK(cuCtxSetCurrent(worker));
    return memory;
}

static void lose_module(CUdeviceptr memory) {
    (void)memory;
    OK(cuModuleUnload(module));
}

static CUcontext primary;

static CUdeviceptr get_primary(size_t size) {
    CUdeviceptr memory;
    OK(cuDevicePrimaryCtxRetain(&primary, 0));
    OK(cuCtxSetCurrent(primary));
    OK(cuMemAlloc_v2(&memory, size));
    OK(cuCtxSetCurrent(worker));
    return memory;
}

static void lose_primary(CUdeviceptr memory) {
    (void)memory;
    OK(cuDevicePrimaryCtxReset_v2(0));
}

// Far from where the system puts mappings by itself: a stack or a heap of another thread could take
// the place as soon as it is free, and the late copy would find memory.
static CUdeviceptr get_registered(size_t size) {
    void *away = (void *)0x100000000000;
    void *memory = mmap(away, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(memory == away);
    OK(cuCtxSetCurrent(owner));
    OK(cuMemHostRegister_v2(memory, size, 1));
    OK(cuCtxSetCurrent(worker));
    return (CUdeviceptr)memory;
}

static void lose_registered(CUdeviceptr memory) {
    OK(cuCtxSetCurrent(owner));
    OK(cuMemHostUnregister((void *)memory));
    CHECK(munmap((void *)memory, SIZE) == 0);
}

// Nobody tells the driver.
static void lose_mapping(CUdeviceptr memory) { CHECK(munmap((void *)memory, SIZE) == 0); }

static const Way DEVICE_WAYS[] = {
    {"cuMemFree", get_ordinary, lose_ordinary},
    {"cuMemFree of managed memory", get_managed, lose_ordinary},
    {"cuMemFreeHost", get_pinned, lose_pinned},
    {"cuCtxDestroy", get_ordinary, lose_context},
    {"cuMemFreeAsync", get_async, lose_async},
    {"cuMemFreeAsync of ordinary memory", get_ordinary, lose_async},
    {"cuMemPoolTrimTo", get_pool, lose_by_trim},
    {"cuMemPoolDestroy", get_pool, lose_pool},
    {"cuMemFreeAsync of a graph's memory", get_graph, lose_async},
    {"cuModuleUnload", get_global, lose_module},
    {"cuDevicePrimaryCtxReset", get_primary, lose_primary},
};

static const Way HOST_WAYS[] = {
    {"cuMemHostUnregister", get_registered, lose_registered},
    {"munmap", get_registered, lose_mapping},
};

// Operations on memory that will be gone when they run. Each has one side that stays.
typedef struct {
    const char *name;
    CUresult (*submit)(CUdeviceptr memory);
} Operation;

static CUresult staged(CUdeviceptr memory) {
    char values[4096] = {1};
    return cuMemcpyHtoDAsync_v2(memory, values, sizeof values, stream);
}

static CUresult from_pinned(CUdeviceptr memory) { return cuMemcpyHtoDAsync_v2(memory, pinned, SIZE, stream); }
static CUresult to_pinned(CUdeviceptr memory) { return cuMemcpyDtoHAsync_v2(pinned, memory, SIZE, stream); }
static CUresult into(CUdeviceptr memory) { return cuMemcpyDtoDAsync_v2(memory, safe, SIZE, stream); }
static CUresult out_of(CUdeviceptr memory) { return cuMemcpyDtoDAsync_v2(safe, memory, SIZE, stream); }
static CUresult unified(CUdeviceptr memory) { return cuMemcpyAsync(memory, safe, SIZE, stream); }
static CUresult peer(CUdeviceptr memory) {
    return cuMemcpyPeerAsync(memory, worker, safe, worker, SIZE, stream);
}

static CUresult copy_2d(CUdeviceptr memory) {
    Memcpy2D copy = {.srcType = 2, .srcDevice = safe, .srcPitch = 256, .dstType = 2, .dstDevice = memory,
                     .dstPitch = 128, .width = 100, .height = 200};
    return cuMemcpy2DAsync_v2(&copy, stream);
}

static Memcpy3D volume(CUdeviceptr memory) {
    return (Memcpy3D){.srcType = 2, .srcDevice = memory, .srcPitch = 64, .srcHeight = 20, .dstType = 2,
                      .dstDevice = safe, .dstPitch = 64, .dstHeight = 10, .width = 50, .height = 9, .depth = 20};
}

static CUresult copy_3d(CUdeviceptr memory) {
    Memcpy3D copy = volume(memory);
    return cuMemcpy3DAsync_v2(&copy, stream);
}

static CUresult set_8(CUdeviceptr memory) { return cuMemsetD8Async(memory, 1, SIZE, stream); }
static CUresult set_16(CUdeviceptr memory) { return cuMemsetD16Async(memory, 0x102, SIZE / 2, stream); }
static CUresult set_32(CUdeviceptr memory) { return cuMemsetD32Async(memory, 0x1020304, SIZE / 4, stream); }
static CUresult set_2d(CUdeviceptr memory) { return cuMemsetD2D8Async(memory, 256, 1, 200, 100, stream); }
static CUresult set_2d_16(CUdeviceptr memory) { return cuMemsetD2D16Async(memory, 256, 0x102, 100, 100, stream); }
static CUresult set_2d_32(CUdeviceptr memory) { return cuMemsetD2D32Async(memory, 256, 0x1020304, 50, 100, stream); }
static CUresult write_value(CUdeviceptr memory) { return cuStreamWriteValue32_v2(stream, memory, 1, 0); }
static CUresult await_value(CUdeviceptr memory) { return cuStreamWaitValue64_v2(stream, memory, 1, 1); }

static CUresult kernel(CUdeviceptr memory) {
    unsigned one = 1;
    void *parameters[] = {&memory, &one};
    return cuLaunchKernel(kernels.add, 4, 1, 1, 256, 1, 1, 0, stream, parameters, NULL);
}

static CUresult launch_graph(CUdeviceptr memory) {
    MemsetNode fill = {.dst = memory, .value = 7, .elementSize = 4, .width = 100, .height = 1};
    Memcpy3D copy = volume(memory);
    CUgraphNode first, second;
    CUgraph both;
    CUgraphExec exec;
    OK(cuGraphCreate(&both, 0));
    OK(cuGraphAddMemcpyNode(&first, both, NULL, 0, &copy, worker));
    OK(cuGraphAddMemsetNode(&second, both, &first, 1, &fill, worker));
    OK(cuGraphInstantiateWithFlags(&exec, both, 0));
    return cuGraphLaunch(exec, stream);
}

static const Operation OPERATIONS[] = {
    {"a staged copy", staged},        {"a copy from pinned memory", from_pinned},
    {"a copy to pinned memory", to_pinned}, {"a copy to it", into},
    {"a copy from it", out_of},       {"a unified copy", unified},
    {"a copy between peers", peer},   {"a copy of rows", copy_2d},
    {"a copy of planes", copy_3d},    {"a fill of bytes", set_8},
    {"a fill of 16 bits", set_16},    {"a fill of 32 bits", set_32},
    {"a fill of rows", set_2d},       {"a fill of rows of 16 bits", set_2d_16},
    {"a fill of rows of 32 bits", set_2d_32}, {"a written value", write_value},
    {"an awaited value", await_value}, {"a kernel", kernel},
    {"a graph", launch_graph},
};

static CUresult to_host(CUdeviceptr memory) { return cuMemcpyDtoHAsync_v2((void *)memory, safe, SIZE, stream); }
static CUresult from_host(CUdeviceptr memory) {
    return cuMemcpyHtoDAsync_v2(safe, (void *)memory, SIZE, stream);
}

static CUresult rows_from_host(CUdeviceptr memory) {
    Memcpy2D copy = {.srcType = 1, .srcHost = (void *)memory, .srcPitch = 256, .dstType = 2, .dstDevice = safe,
                     .dstPitch = 128, .width = 100, .height = 200};
    return cuMemcpy2DAsync_v2(&copy, stream);
}

static CUresult from_host_unified(CUdeviceptr memory) { return cuMemcpyAsync(safe, memory, SIZE, stream); }

// A copy whose source is the program's again after the call.
static CUresult staged_to_host(CUdeviceptr memory) {
    char values[4096] = {1};
    return cuMemcpyAsync(memory, (CUdeviceptr)values, sizeof values, stream);
}

static CUresult captured(CUdeviceptr memory) {
    CUgraph graph;
    CUgraphExec exec;
    CUstream capturing;
    OK(cuStreamCreate(&capturing, 1));
    OK(cuStreamBeginCapture_v2(capturing, 2));
    OK(cuMemcpyDtoHAsync_v2((void *)memory, safe, SIZE, capturing));
    OK(cuStreamEndCapture(capturing, &graph));
    OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    return cuGraphLaunch(exec, stream);
}

static const Operation HOST_OPERATIONS[] = {
    {"a copy to the host", to_host},
    {"a copy from the host", from_host},
    {"a copy of rows from the host", rows_from_host},
    {"a unified copy to the host", unified},
    {"a unified copy from the host", from_host_unified},
    {"a staged copy to the host", staged_to_host},
    {"a captured copy to the host", captured},
    {"a fill of bytes", set_8},
    {"a fill of 16 bits", set_16},
    {"a fill of rows of 32 bits", set_2d_32},
    {"a written value", write_value},
    {"an awaited value", await_value},
    {"a graph", launch_graph},
};

#define COUNT(array) (sizeof array / sizeof *array)

static void queued(const Way *way, const Operation *operation) {
    begin();
    CUdeviceptr memory = way->get(SIZE);
    OK(cuLaunchHostFunc(stream, hold, NULL));
    OK(operation->submit(memory));
    way->lose(memory);
    end(ILLEGAL_ADDRESS, way->name, operation->name);
}

// Work that is running when its memory goes.
static CUresult fill_large(CUdeviceptr memory) { return cuMemsetD8Async(memory, 1, LARGE, stream); }
static CUresult fill_words(CUdeviceptr memory) { return cuMemsetD32Async(memory, 0x1020304, LARGE / 4, stream); }
static CUresult copy_large(CUdeviceptr memory) {
    return cuMemcpyDtoDAsync_v2(memory + LARGE / 2, memory, LARGE / 2, stream);
}

// The part of it that its blocks have.
static CUresult add_to_much(CUdeviceptr memory) {
    unsigned one = 1;
    void *parameters[] = {&memory, &one};
    return cuLaunchKernel(kernels.add, 1024, 1, 1, 256, 1, 1, 0, stream, parameters, NULL);
}

static void running(const Way *way, CUresult (*submit)(CUdeviceptr)) {
    begin();
    CUdeviceptr memory = way->get(LARGE);
    OK(submit(memory));
    way->lose(memory);
    OK(cuCtxSetCurrent(worker));
    CUresult result = cuStreamSynchronize(stream);
    CHECK(result == SUCCESS || result == ILLEGAL_ADDRESS);
    OK(cuCtxDestroy_v2(worker));
    cuCtxDestroy_v2(owner);
}

int main(void) {
    OK(cuInit(0));
    for (size_t way = 0; way < COUNT(DEVICE_WAYS); way++)
        for (size_t operation = 0; operation < COUNT(OPERATIONS); operation++)
            queued(&DEVICE_WAYS[way], &OPERATIONS[operation]);
    for (size_t way = 0; way < COUNT(HOST_WAYS); way++)
        for (size_t operation = 0; operation < COUNT(HOST_OPERATIONS); operation++)
            queued(&HOST_WAYS[way], &HOST_OPERATIONS[operation]);
    for (int round = 0; round < 3; round++) {
        running(&DEVICE_WAYS[0], fill_large);
        running(&DEVICE_WAYS[3], fill_words);
        running(&DEVICE_WAYS[4], copy_large);
        running(&DEVICE_WAYS[9], fill_large);
        running(&DEVICE_WAYS[0], add_to_much);
        running(&DEVICE_WAYS[3], add_to_much);
        running(&DEVICE_WAYS[4], add_to_much);
    }
    return 0;
}
