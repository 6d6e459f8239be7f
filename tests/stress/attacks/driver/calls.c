// Eight threads call every family of the driver API with random arguments: handles that are null, stale, of another kind
// or made up, sizes at the limits, addresses beside allocations. Any result that the API knows is fine; crashes and hangs are not.
#include "kernels.h"
#include "stress.h"
#include <pthread.h>

CUresult cuCtxPushCurrent_v2(CUcontext);
CUresult cuCtxPopCurrent_v2(CUcontext *);
CUresult cuCtxGetLimit(size_t *, int);
CUresult cuCtxSetLimit(int, size_t);
CUresult cuCtxGetId(CUcontext, unsigned long long *);
CUresult cuDevicePrimaryCtxRelease_v2(CUdevice);
CUresult cuGetErrorName(CUresult, const char **);
CUresult cuMemGetInfo_v2(size_t *, size_t *);
CUresult cuMemGetAddressRange_v2(CUdeviceptr *, size_t *, CUdeviceptr);
CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr *, void *, unsigned);
CUresult cuPointerGetAttribute(void *, int, CUdeviceptr);
CUresult cuMemAllocPitch_v2(CUdeviceptr *, size_t *, size_t, size_t, unsigned);
CUresult cuMemcpyDtoD_v2(CUdeviceptr, CUdeviceptr, size_t);
CUresult cuMemcpy3D_v2(const Memcpy3D *);
CUresult cuFuncGetAttribute(int *, int, CUfunction);
CUresult cuFuncSetAttribute(CUfunction, int, int);
CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *, CUfunction, int, size_t);
CUresult cuLaunchCooperativeKernel(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                                   CUstream, void **);
CUresult cuLinkCreate_v2(unsigned, int *, void **, void **);
CUresult cuLinkAddData_v2(void *, int, void *, size_t, const char *, unsigned, int *, void **);
CUresult cuLinkComplete(void *, void **, size_t *);
CUresult cuLinkDestroy(void *);
CUresult cuLibraryLoadData(void **, const void *, void *, void **, unsigned, void *, void **, unsigned);
CUresult cuLibraryUnload(void *);
CUresult cuLibraryGetKernel(void **, void *, const char *);
CUresult cuKernelGetFunction(CUfunction *, void *);

// Handles that all threads share, by kind. What is destroyed stays here, and so does what another thread destroys.
enum { CONTEXT, STREAM, EVENT, MODULE, FUNCTION, GRAPH, NODE, EXEC, POOL, MEMORY, PINNED, LIBRARY, KERNEL, LINK, KINDS };
enum { SLOTS = 64, HOST = 4 << 20 };
static _Atomic(void *) slots[KINDS][SLOTS];
static unsigned char host[THREADS][HOST];

typedef struct {
    Random random;
    unsigned char *host;
} Thread;

static void keep(Thread *thread, int kind, void *handle) { slots[kind][below(&thread->random, SLOTS)] = handle; }

static void *any(Thread *thread, int kind) {
    Random *random = &thread->random;
    void *handle = slots[kind][below(random, SLOTS)];
    switch (below(random, 60)) {
    case 0: return NULL;
    case 1: return (void *)(uintptr_t)below(random, 4);
    case 2: return (void *)((uintptr_t)next(random) << 32 | next(random));
    case 3: return slots[below(random, KINDS)][below(random, SLOTS)];
    case 4: return (void *)-1;
    case 5: return (char *)handle + 8;
    default: return handle;
    }
}

static size_t size(Thread *thread) {
    static const size_t edges[] = {0, 1, 3, 4, 64, 4096, 65536, 1 << 20, (size_t)1 << 31, (size_t)1 << 32,
                                   (size_t)1 << 40, (size_t)1 << 63, (size_t)-8, (size_t)-1};
    if (one_in(&thread->random, 8)) return edges[below(&thread->random, sizeof edges / sizeof *edges)];
    return below(&thread->random, 70000);
}

// The host's buffers are of this size; a copy between them and the device may not be larger.
static size_t host_size(Thread *thread) {
    size_t wanted = size(thread);
    return wanted <= HOST / 2 ? wanted : HOST / 2;
}

static CUdeviceptr address(Thread *thread) {
    CUdeviceptr memory = (CUdeviceptr)any(thread, MEMORY);
    if (one_in(&thread->random, 4)) memory += below(&thread->random, 5000);
    if (one_in(&thread->random, 40)) memory -= below(&thread->random, 100);
    // Not by chance an address of the host: the program would be asking for what it gets.
    return memory >> 42 == (CUdeviceptr)1 << 3 ? memory : memory % 4096;
}

// Flags and numbers: mostly small.
static unsigned number(Thread *thread, unsigned usual) {
    return one_in(&thread->random, 25) ? next(&thread->random) : below(&thread->random, usual);
}

// Blocks or threads of a launch: few, or more than there may be. As many as there may be would take hours.
static unsigned extent(Thread *thread, unsigned usual) {
    return one_in(&thread->random, 25) ? next(&thread->random) | 1u << 31 : below(&thread->random, usual);
}

static void nothing(void *unused) { (void)unused; }
static void told(CUstream stream, CUresult result, void *unused) { (void)stream, (void)result, (void)unused; }

// A call, whose result must be one that there is.
#define TRY(call) try_(#call, call)
static CUresult try_(const char *text, CUresult result) {
    const char *name = NULL;
    atomic_fetch_add(&stress_calls, 1);
    if (cuGetErrorName(result, &name) != SUCCESS || !name) fail("%s gives %d, which is no result", text, result);
    return result;
}

#define NEW(kind, call)                                                                                          \
    do {                                                                                                         \
        void *made = NULL;                                                                                       \
        if (TRY(call) == SUCCESS && made) keep(t, kind, made);                                                   \
    } while (0)
#define MADE ((void *)&made)

static void contexts(Thread *t) {
    Random *r = &t->random;
    CUcontext context;
    unsigned long long id;
    size_t value;
    switch (below(r, 16)) {
    case 0: if (one_in(r, 8)) NEW(CONTEXT, cuCtxCreate_v2(MADE, number(t, 5), (int)number(t, 2))); break;
    case 1: if (one_in(r, 12)) TRY(cuCtxDestroy_v2(any(t, CONTEXT))); break;
    case 2: case 3: case 4: TRY(cuCtxSetCurrent(any(t, CONTEXT))); break;
    case 5: TRY(cuCtxPushCurrent_v2(any(t, CONTEXT))); break;
    case 6: TRY(cuCtxPopCurrent_v2(one_in(r, 9) ? NULL : &context)); break;
    case 7: if (one_in(r, 6)) TRY(cuCtxSynchronize()); break;
    case 8: TRY(cuCtxSetLimit((int)number(t, 9), size(t))); break;
    case 9: TRY(cuCtxGetLimit(one_in(r, 9) ? NULL : &value, (int)number(t, 9))); break;
    case 10: NEW(CONTEXT, cuDevicePrimaryCtxRetain(MADE, (int)number(t, 2))); break;
    case 11: TRY(cuDevicePrimaryCtxRelease_v2((int)number(t, 2))); break;
    case 12: if (one_in(r, 20)) TRY(cuDevicePrimaryCtxReset_v2((int)number(t, 2))); break;
    default: TRY(cuCtxGetId(any(t, CONTEXT), &id));
    }
}

static void streams(Thread *t) {
    Random *r = &t->random;
    float time;
    int status;
    unsigned long long id;
    size_t count;
    CUgraph graph;
    const CUgraphNode *nodes;
    switch (below(r, 20)) {
    case 0: case 1: NEW(STREAM, cuStreamCreate(MADE, number(t, 2))); break;
    case 2: if (one_in(r, 3)) TRY(cuStreamDestroy_v2(any(t, STREAM))); break;
    case 3: TRY(cuStreamQuery(any(t, STREAM))); break;
    case 4: if (one_in(r, 3)) TRY(cuStreamSynchronize(any(t, STREAM))); break;
    case 5: case 6: NEW(EVENT, cuEventCreate(MADE, number(t, 4))); break;
    case 7: TRY(cuEventDestroy_v2(any(t, EVENT))); break;
    case 8: case 9: TRY(cuEventRecord(any(t, EVENT), any(t, STREAM))); break;
    case 10: case 11: TRY(cuStreamWaitEvent(any(t, STREAM), any(t, EVENT), number(t, 1))); break;
    case 12: TRY(cuEventQuery(any(t, EVENT))); break;
    case 13: if (one_in(r, 3)) TRY(cuEventSynchronize(any(t, EVENT))); break;
    case 14: TRY(cuEventElapsedTime(one_in(r, 9) ? NULL : &time, any(t, EVENT), any(t, EVENT))); break;
    case 15: TRY(cuLaunchHostFunc(any(t, STREAM), one_in(r, 9) ? NULL : nothing, NULL)); break;
    case 16: TRY(cuStreamAddCallback(any(t, STREAM), told, NULL, number(t, 1))); break;
    case 17: if (one_in(r, 4)) TRY(cuStreamBeginCapture_v2(any(t, STREAM), (int)number(t, 3))); break;
    case 18: NEW(GRAPH, cuStreamEndCapture(any(t, STREAM), MADE)); break;
    default: TRY(cuStreamGetCaptureInfo_v2(any(t, STREAM), &status, &id, &graph, &nodes, &count));
    }
}

static void memory(Thread *t) {
    Random *r = &t->random;
    CUdeviceptr place;
    size_t one, two;
    char value[64];
    unsigned char *registered = t->host + 4096 * (size_t)below(r, 100);
    PoolProperties properties = {.allocType = (int)number(t, 2), .location = {(int)number(t, 2), (int)number(t, 2)}};
    switch (below(r, 24)) {
    case 0: case 1: case 2: case 3: NEW(MEMORY, cuMemAlloc_v2(MADE, size(t))); break;
    case 4: case 5: TRY(cuMemFree_v2(one_in(r, 20) ? address(t) : (CUdeviceptr)any(t, MEMORY))); break;
    case 6: NEW(MEMORY, cuMemAllocPitch_v2(MADE, one_in(r, 9) ? NULL : &one, size(t), number(t, 50), number(t, 17))); break;
    case 7: NEW(MEMORY, cuMemAllocManaged(MADE, size(t), number(t, 3))); break;
    case 8: NEW(PINNED, cuMemAllocHost_v2(MADE, size(t))); break;
    case 9: TRY(cuMemFreeHost(any(t, PINNED))); break;
    case 10: TRY(cuMemHostRegister_v2(registered, host_size(t), number(t, 4))); break;
    case 11: TRY(cuMemHostUnregister(registered)); break;
    case 12: TRY(cuMemHostGetDevicePointer_v2(&place, one_in(r, 2) ? registered : any(t, PINNED), number(t, 1))); break;
    case 13: TRY(cuPointerGetAttribute(value, (int)number(t, 20), address(t))); break;
    case 14: TRY(cuMemGetAddressRange_v2(&place, one_in(r, 3) ? NULL : &one, address(t))); break;
    case 15: TRY(cuMemGetInfo_v2(&one, &two)); break;
    case 16: case 17: NEW(MEMORY, cuMemAllocAsync(MADE, size(t), any(t, STREAM))); break;
    case 18: TRY(cuMemFreeAsync((CUdeviceptr)any(t, MEMORY), any(t, STREAM))); break;
    case 19: if (one_in(r, 3)) NEW(POOL, cuMemPoolCreate(MADE, &properties)); break;
    case 20: if (one_in(r, 4)) TRY(cuMemPoolDestroy(any(t, POOL))); break;
    case 21: TRY(cuMemPoolTrimTo(any(t, POOL), size(t))); break;
    case 22: NEW(MEMORY, cuMemAllocFromPoolAsync(MADE, size(t), any(t, POOL), any(t, STREAM))); break;
    default: TRY(cuMemPoolGetAttribute(any(t, POOL), (int)number(t, 10), value));
    }
}

static void transfers(Thread *t) {
    Random *r = &t->random;
    Memcpy3D volume = {.srcType = 2, .dstType = 2, .srcDevice = address(t), .dstDevice = address(t), .width = size(t),
                       .height = number(t, 10), .depth = number(t, 5), .srcPitch = number(t, 600),
                       .dstPitch = number(t, 600), .srcHeight = number(t, 12), .dstHeight = number(t, 12),
                       .srcX = one_in(r, 10) ? size(t) : 0};
    switch (below(r, 14)) {
    case 0: TRY(cuMemcpyHtoD_v2(address(t), t->host, host_size(t))); break;
    case 1: TRY(cuMemcpyDtoH_v2(t->host, address(t), host_size(t))); break;
    case 2: TRY(cuMemcpyHtoDAsync_v2(address(t), t->host, host_size(t), any(t, STREAM))); break;
    case 3: TRY(cuMemcpyDtoHAsync_v2(t->host + 64, address(t), host_size(t), any(t, STREAM))); break;
    case 4: TRY(cuMemcpyDtoDAsync_v2(address(t), address(t), size(t), any(t, STREAM))); break;
    case 5: TRY(cuMemcpyDtoD_v2(address(t), address(t), size(t))); break;
    case 6: TRY(cuMemsetD32_v2(address(t), next(r), size(t))); break;
    case 7: TRY(cuMemsetD8Async(address(t), (unsigned char)next(r), size(t), any(t, STREAM))); break;
    case 8: TRY(cuMemsetD32Async(address(t), next(r), size(t), any(t, STREAM))); break;
    case 9: TRY(cuMemsetD2D32Async(address(t), size(t), next(r), size(t), size(t), any(t, STREAM))); break;
    case 10: TRY(cuMemcpy3D_v2(one_in(r, 20) ? NULL : &volume)); break;
    case 11: TRY(cuMemcpyPeerAsync(address(t), any(t, CONTEXT), address(t), any(t, CONTEXT), size(t), any(t, STREAM))); break;
    case 12: TRY(cuStreamWriteValue32_v2(any(t, STREAM), address(t), next(r), number(t, 2))); break;
    default: TRY(cuMemcpy3DAsync_v2(&volume, any(t, STREAM)));
    }
}

static void code(Thread *t) {
    static const char *const names[] = {"empty", "add", "twice", "nothing", ""};
    Random *r = &t->random;
    CUdeviceptr place = address(t);
    unsigned value = next(r);
    void *parameters[] = {&place, &value, &place, &place}, *image;
    int found;
    size_t length;
    CUfunction function;
    const char *text = one_in(r, 20) ? one_in(r, 2) ? "" : "\177ELF, or so" : KERNELS;
    switch (below(r, 20)) {
    case 0: if (one_in(r, 3)) NEW(MODULE, cuModuleLoadData(MADE, text)); break;
    case 1: if (one_in(r, 6)) TRY(cuModuleUnload(any(t, MODULE))); break;
    case 2: case 3: NEW(FUNCTION, cuModuleGetFunction(MADE, any(t, MODULE), names[below(r, 5)])); break;
    case 4: case 5: case 6: case 7:
        TRY(cuLaunchKernel(any(t, FUNCTION), extent(t, 9), 1, one_in(r, 50) ? 70000 : 1, extent(t, 130),
                           one_in(r, 50) ? 2000 : 1, 1, one_in(r, 30) ? next(r) : 0, any(t, STREAM),
                           one_in(r, 50) ? NULL : parameters, NULL));
        break;
    case 8: TRY(cuLaunchCooperativeKernel(any(t, FUNCTION), extent(t, 20), 1, 1, extent(t, 64), 1, 1, 0,
                                          any(t, STREAM), parameters)); break;
    case 9: TRY(cuFuncGetAttribute(&found, (int)number(t, 20) - 1, any(t, FUNCTION))); break;
    case 10: TRY(cuFuncSetAttribute(any(t, FUNCTION), (int)number(t, 20) - 1, (int)number(t, 50000))); break;
    case 11: TRY(cuOccupancyMaxActiveBlocksPerMultiprocessor(&found, any(t, FUNCTION), (int)number(t, 1100), size(t))); break;
    case 12: NEW(LINK, cuLinkCreate_v2(0, NULL, NULL, MADE)); break;
    case 13: TRY(cuLinkAddData_v2(any(t, LINK), (int)number(t, 3), (void *)KERNELS,
                                  one_in(r, 9) ? below(r, 100) : sizeof KERNELS, "kernels", 0, NULL, NULL)); break;
    case 14: TRY(cuLinkComplete(any(t, LINK), &image, &length)); break;
    case 15: TRY(cuLinkDestroy(any(t, LINK))); break;
    case 16: if (one_in(r, 3)) NEW(LIBRARY, cuLibraryLoadData(MADE, text, NULL, NULL, 0, NULL, NULL, 0)); break;
    case 17: if (one_in(r, 3)) TRY(cuLibraryUnload(any(t, LIBRARY))); break;
    case 18: NEW(KERNEL, cuLibraryGetKernel(MADE, any(t, LIBRARY), names[below(r, 5)])); break;
    default: TRY(cuKernelGetFunction(&function, any(t, KERNEL)));
    }
}

static void graphs(Thread *t) {
    Random *r = &t->random;
    CUdeviceptr place = address(t);
    unsigned value = next(r);
    void *parameters[] = {&place, &value};
    KernelNode launch = {any(t, FUNCTION), 1 + below(r, 4), 1, 1, 1 + below(r, 64), 1, 1, 0, parameters, 0, 0, 0};
    MemsetNode fill = {place, size(t), next(r), 1u << below(r, 4), size(t), number(t, 3)};
    HostNode function = {one_in(r, 9) ? NULL : nothing, NULL};
    AllocationNode allocation = {.properties = {.allocType = 1, .location = {1, 0}}, .size = size(t)};
    CUgraphNode before[3] = {any(t, NODE), any(t, NODE), any(t, NODE)}, found[40];
    size_t count = one_in(r, 3) ? 1 + below(r, 3) : 0, many = below(r, 40);
    CUgraph graph = any(t, GRAPH);
    char information[64];
    switch (below(r, 24)) {
    case 0: NEW(GRAPH, cuGraphCreate(MADE, number(t, 1))); break;
    case 1: if (one_in(r, 3)) TRY(cuGraphDestroy(graph)); break;
    case 2: if (one_in(r, 3)) NEW(GRAPH, cuGraphClone(MADE, graph)); break;
    case 3: NEW(NODE, cuGraphAddEmptyNode(MADE, graph, before, count)); break;
    case 4: case 5: NEW(NODE, cuGraphAddKernelNode_v2(MADE, graph, before, count, &launch)); break;
    case 6: NEW(NODE, cuGraphAddMemsetNode(MADE, graph, before, count, &fill, any(t, CONTEXT))); break;
    case 7: NEW(NODE, cuGraphAddHostNode(MADE, graph, before, count, &function)); break;
    case 8: if (one_in(r, 3)) NEW(NODE, cuGraphAddChildGraphNode(MADE, graph, before, count, any(t, GRAPH))); break;
    case 9: NEW(NODE, cuGraphAddEventRecordNode(MADE, graph, before, count, any(t, EVENT))); break;
    case 10: NEW(NODE, cuGraphAddEventWaitNode(MADE, graph, before, count, any(t, EVENT))); break;
    case 11: TRY(cuGraphAddDependencies(graph, before, before + 1, 1)); break;
    case 12: TRY(cuGraphRemoveDependencies(graph, before, before + 1, 1)); break;
    case 13: TRY(cuGraphDestroyNode(any(t, NODE))); break;
    case 14: case 15: NEW(EXEC, cuGraphInstantiateWithFlags(MADE, graph, number(t, 2))); break;
    case 16: if (one_in(r, 3)) TRY(cuGraphExecDestroy(any(t, EXEC))); break;
    case 17: case 18: TRY(cuGraphLaunch(any(t, EXEC), any(t, STREAM))); break;
    case 19: TRY(cuGraphExecUpdate_v2(any(t, EXEC), graph, information)); break;
    case 20: TRY(cuGraphGetNodes(graph, one_in(r, 3) ? NULL : found, &many)); break;
    case 21: TRY(cuGraphExecKernelNodeSetParams_v2(any(t, EXEC), any(t, NODE), &launch)); break;
    case 22:
        if (TRY(cuGraphAddMemAllocNode(found, graph, before, count, &allocation)) == SUCCESS) {
            keep(t, NODE, found[0]);
            keep(t, MEMORY, (void *)allocation.address);
        }
        break;
    default: NEW(NODE, cuGraphAddMemFreeNode(MADE, graph, before, count, (CUdeviceptr)any(t, MEMORY)));
    }
}

static void (*const FAMILIES[])(Thread *) = {contexts, streams, memory, transfers, code, graphs};

static void *work(void *index) {
    Thread thread = {.random = random_of((uint64_t)index), .host = host[(size_t)index]};
    cuCtxSetCurrent(slots[CONTEXT][0]);
    while (!stress_over()) FAMILIES[below(&thread.random, sizeof FAMILIES / sizeof *FAMILIES)](&thread);
    return NULL;
}

int main(int argc, char **argv) {
    pthread_t threads[THREADS];
    stress_start(argc, argv);
    slots[CONTEXT][0] = start();
    Kernels kernels = load_kernels();
    slots[MODULE][0] = kernels.module;
    slots[FUNCTION][0] = kernels.add;
    slots[FUNCTION][1] = kernels.twice;
    for (size_t i = 1; i < 8; i++) OK(cuCtxCreate_v2((CUcontext *)&slots[CONTEXT][i], 0, 0));
    for (size_t i = 0; i < THREADS; i++) CHECK(pthread_create(&threads[i], NULL, work, (void *)i) == 0);
    for (size_t i = 0; i < THREADS; i++) CHECK(pthread_join(threads[i], NULL) == 0);
    stress_report();
    return 0;
}
