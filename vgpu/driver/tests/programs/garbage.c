// Handles that are none, of another kind, or gone: every function says so, and null results are refused.
#include "kernels.h"

#define REFUSED(call)                                                                                            \
    do {                                                                                                         \
        CUresult got_ = (call);                                                                                  \
        if (got_ != INVALID_HANDLE && got_ != INVALID_VALUE) {                                                   \
            fprintf(stderr, "%s:%d: %s gives %d for %p\n", __FILE__, __LINE__, #call, got_, handle);             \
            exit(1);                                                                                             \
        }                                                                                                        \
    } while (0)

static CUstream stream;
static CUevent event;
static CUgraph graph;
static CUgraphNode node;
static CUgraphExec exec;
static CUmemoryPool pool;
static CUcontext context;

static void as_stream(void *handle) {
    CUstream bad = handle;
    unsigned flags;
    int number;
    unsigned long long id;
    CUgraph made;
    CUdeviceptr memory;
    REFUSED(cuStreamDestroy_v2(bad));
    REFUSED(cuStreamQuery(bad));
    REFUSED(cuStreamSynchronize(bad));
    REFUSED(cuStreamGetFlags(bad, &flags));
    REFUSED(cuStreamGetPriority(bad, &number));
    REFUSED(cuStreamGetId(bad, &id));
    REFUSED(cuStreamGetCtx(bad, &context));
    REFUSED(cuStreamWaitEvent(bad, event, 0));
    REFUSED(cuStreamAddCallback(bad, (CUstreamCallback)as_stream, NULL, 0));
    REFUSED(cuLaunchHostFunc(bad, as_stream, NULL));
    REFUSED(cuStreamBeginCapture_v2(bad, 2));
    REFUSED(cuStreamEndCapture(bad, &made));
    REFUSED(cuStreamIsCapturing(bad, &number));
    REFUSED(cuStreamGetCaptureInfo_v2(bad, &number, NULL, NULL, NULL, NULL));
    REFUSED(cuEventRecord(event, bad));
    REFUSED(cuGraphLaunch(exec, bad));
    REFUSED(cuMemAllocAsync(&memory, 64, bad));
    REFUSED(cuMemFreeAsync(64, bad));
    REFUSED(cuMemsetD32Async(64, 0, 1, bad));
}

static void as_event(void *handle) {
    CUevent bad = handle;
    float time;
    CUgraphNode made;
    REFUSED(cuEventDestroy_v2(bad));
    REFUSED(cuEventQuery(bad));
    REFUSED(cuEventSynchronize(bad));
    REFUSED(cuEventRecord(bad, stream));
    REFUSED(cuEventElapsedTime(&time, bad, event));
    REFUSED(cuEventElapsedTime(&time, event, bad));
    REFUSED(cuStreamWaitEvent(stream, bad, 0));
    REFUSED(cuGraphAddEventRecordNode(&made, graph, NULL, 0, bad));
    REFUSED(cuGraphAddEventWaitNode(&made, graph, NULL, 0, bad));
}

static void as_graph(void *handle) {
    CUgraph bad = handle, copy;
    CUgraphNode made, found;
    CUgraphExec instance;
    size_t count = 0;
    REFUSED(cuGraphClone(&copy, bad));
    REFUSED(cuGraphAddEmptyNode(&made, bad, NULL, 0));
    REFUSED(cuGraphAddChildGraphNode(&made, graph, NULL, 0, bad));
    REFUSED(cuGraphAddDependencies(bad, &node, &node, 1));
    REFUSED(cuGraphGetNodes(bad, NULL, &count));
    REFUSED(cuGraphGetRootNodes(bad, NULL, &count));
    REFUSED(cuGraphGetEdges(bad, NULL, NULL, &count));
    REFUSED(cuGraphInstantiateWithFlags(&instance, bad, 0));
    REFUSED(cuGraphExecUpdate_v2(exec, bad, NULL));
    REFUSED(cuGraphNodeFindInClone(&found, node, bad));
    REFUSED(cuGraphDebugDotPrint(bad, "/dev/null", 0));
    REFUSED(cuGraphDestroy(bad));
}

static void as_node(void *handle) {
    CUgraphNode bad = handle, made;
    KernelNode kernel;
    MemsetNode fill;
    HostNode host;
    CUgraph child;
    CUevent found;
    CUdeviceptr address;
    size_t count = 0;
    int type;
    unsigned enabled;
    REFUSED(cuGraphNodeGetType(bad, &type));
    REFUSED(cuGraphKernelNodeGetParams_v2(bad, &kernel));
    REFUSED(cuGraphMemsetNodeGetParams(bad, &fill));
    REFUSED(cuGraphHostNodeGetParams(bad, &host));
    REFUSED(cuGraphChildGraphNodeGetGraph(bad, &child));
    REFUSED(cuGraphEventRecordNodeGetEvent(bad, &found));
    REFUSED(cuGraphMemFreeNodeGetParams(bad, &address));
    REFUSED(cuGraphNodeGetDependencies(bad, NULL, &count));
    REFUSED(cuGraphNodeGetDependentNodes(bad, NULL, &count));
    REFUSED(cuGraphNodeGetEnabled(exec, bad, &enabled));
    REFUSED(cuGraphNodeSetEnabled(exec, bad, 1));
    REFUSED(cuGraphAddEmptyNode(&made, graph, &bad, 1));
    REFUSED(cuGraphAddDependencies(graph, &bad, &node, 1));
    REFUSED(cuGraphAddDependencies(graph, &node, &bad, 1));
    REFUSED(cuGraphDestroyNode(bad));
}

static void as_exec(void *handle) {
    CUgraphExec bad = handle;
    REFUSED(cuGraphLaunch(bad, stream));
    REFUSED(cuGraphUpload(bad, stream));
    REFUSED(cuGraphExecUpdate_v2(bad, graph, NULL));
    REFUSED(cuGraphNodeSetEnabled(bad, node, 1));
    REFUSED(cuGraphExecDestroy(bad));
}

static void as_pool(void *handle) {
    CUmemoryPool bad = handle;
    CUdeviceptr memory;
    uint64_t value = 0;
    REFUSED(cuMemPoolDestroy(bad));
    REFUSED(cuMemPoolTrimTo(bad, 0));
    REFUSED(cuMemPoolGetAttribute(bad, 5, &value));
    REFUSED(cuMemPoolSetAttribute(bad, 4, &value));
    REFUSED(cuDeviceSetMemPool(0, bad));
    REFUSED(cuMemAllocFromPoolAsync(&memory, 64, bad, stream));
}

int main(void) {
    CUcontext own = start();
    CUstream gone_stream;
    CUevent gone_event;
    CUgraph gone_graph;
    OK(cuStreamCreate(&stream, 1));
    OK(cuEventCreate(&event, 0));
    OK(cuGraphCreate(&graph, 0));
    OK(cuGraphAddEmptyNode(&node, graph, NULL, 0));
    OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    OK(cuDeviceGetDefaultMemPool(&pool, 0));
    OK(cuStreamCreate(&gone_stream, 0));
    OK(cuStreamDestroy_v2(gone_stream));
    OK(cuEventCreate(&gone_event, 0));
    OK(cuEventDestroy_v2(gone_event));
    OK(cuGraphCreate(&gone_graph, 0));
    OK(cuGraphDestroy(gone_graph));
    void *handles[] = {stream, event, graph, node, exec, pool, gone_stream, gone_event, gone_graph,
                       (void *)0x7ffff7fffff0, (void *)3, (void *)-1, &own, NULL};
    void (*checks[])(void *) = {as_stream, as_event, as_graph, as_node, as_exec, as_pool};
    for (int kind = 0; kind < 6; kind++)
        for (int i = 0; i < 14; i++) {
            // A handle of its own kind is good, and null is the default stream.
            if (i == kind || (kind == 0 && handles[i] == NULL)) continue;
            checks[kind](handles[i]);
        }

    // Nowhere to put a result.
    void *handle = NULL;
    REFUSED(cuStreamCreate(NULL, 0));
    REFUSED(cuEventCreate(NULL, 0));
    REFUSED(cuGraphCreate(NULL, 0));
    REFUSED(cuStreamGetFlags(stream, NULL));
    REFUSED(cuStreamIsCapturing(stream, NULL));
    REFUSED(cuEventElapsedTime(NULL, event, event));
    REFUSED(cuGraphInstantiateWithFlags(NULL, graph, 0));
    REFUSED(cuGraphAddEmptyNode(NULL, graph, NULL, 0));
    REFUSED(cuGraphNodeGetType(node, NULL));
    REFUSED(cuGraphAddKernelNode_v2(&node, graph, NULL, 0, NULL));
    REFUSED(cuGraphAddEmptyNode(&node, graph, NULL, 1));
    REFUSED(cuMemAllocAsync(NULL, 64, stream));
    REFUSED(cuMemPoolCreate(&pool, NULL));
    REFUSED(cuDeviceGetDefaultMemPool(NULL, 0));
    REFUSED(cuThreadExchangeStreamCaptureMode(NULL));
    // What was good still is.
    OK(cuGraphLaunch(exec, stream));
    OK(cuEventRecord(event, stream));
    OK(cuCtxSynchronize());
    OK(cuCtxDestroy_v2(own));
    return 0;
}
