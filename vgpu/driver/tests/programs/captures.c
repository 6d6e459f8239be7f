// Streams whose work becomes a graph.
#include "kernels.h"
#include <pthread.h>
#include <stdatomic.h>

enum { GLOBAL, THREAD_LOCAL, RELAXED };
enum { N = 32 };

static atomic_int calls;
static CUcontext context;
static CUstream captured;

static void call(void *unused) {
    (void)unused;
    atomic_fetch_add(&calls, 1);
}

static void *end_elsewhere(void *unused) {
    (void)unused;
    CUgraph graph;
    OK(cuCtxSetCurrent(context));
    EXPECT(CAPTURE_WRONG_THREAD, cuStreamEndCapture(captured, &graph));
    return NULL;
}

static void *allocate_elsewhere(void *expected) {
    CUdeviceptr memory;
    OK(cuCtxSetCurrent(context));
    EXPECT((int)(intptr_t)expected, cuMemAlloc_v2(&memory, 16));
    return NULL;
}

static void elsewhere(void *(*function)(void *), void *argument) {
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, function, argument) == 0);
    pthread_join(thread, NULL);
}

int main(void) {
    context = start();
    Kernels kernels = load_kernels();
    CUstream one, other, blocking;
    CUevent fork, join;
    CUdeviceptr memory;
    unsigned *host, value = 4;
    OK(cuStreamCreate(&one, 1));
    OK(cuStreamCreate(&other, 1));
    OK(cuStreamCreate(&blocking, 0));
    OK(cuEventCreate(&fork, 2));
    OK(cuEventCreate(&join, 2));
    OK(cuMemAlloc_v2(&memory, N * 4));
    OK(cuMemAllocHost_v2((void **)&host, N * 4));
    void *add[] = {&memory, &value}, *twice[] = {&memory};

    // Everything that can be captured, over two streams.
    int status;
    unsigned long long id;
    CUgraph graph, seen;
    const CUgraphNode *dependencies;
    size_t count;
    OK(cuStreamBeginCapture_v2(one, RELAXED));
    OK(cuMemsetD32Async(memory, 1, N, one));
    OK(launch(kernels.add, N, one, add));
    OK(cuEventRecord(fork, one));
    OK(cuStreamWaitEvent(other, fork, 0));
    OK(cuLaunchHostFunc(other, call, NULL));
    OK(cuEventRecord(join, other));
    OK(launch(kernels.twice, N, one, twice));
    OK(cuStreamWaitEvent(one, join, 0));
    OK(cuMemcpyDtoHAsync_v2(host, memory, N * 4, one));
    OK(cuStreamIsCapturing(one, &status));
    CHECK(status == 1);
    OK(cuStreamIsCapturing(blocking, &status));
    CHECK(status == 0);
    OK(cuStreamGetCaptureInfo_v2(one, &status, &id, &seen, &dependencies, &count));
    CHECK(status == 1 && id != 0 && count == 1);
    int type;
    OK(cuGraphNodeGetType(dependencies[0], &type));
    CHECK(type == 1);
    EXPECT(CAPTURED_EVENT, cuEventQuery(fork));
    OK(cuStreamEndCapture(one, &graph));
    CHECK(graph == seen);
    OK(cuStreamIsCapturing(other, &status));
    CHECK(status == 0 && atomic_load(&calls) == 0);
    OK(cuGraphGetNodes(graph, NULL, &count));
    CHECK(count == 5);
    OK(cuGraphGetEdges(graph, NULL, NULL, &count));
    CHECK(count == 5);

    CUgraphExec exec;
    OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    OK(cuGraphDestroy(graph));
    for (int round = 1; round < 4; round++) {
        memset(host, 0, N * 4);
        OK(cuGraphLaunch(exec, round == 2 ? NULL : other));
        OK(cuCtxSynchronize());
        for (unsigned i = 0; i < N; i++) CHECK(host[i] == 2 * (1 + 4) + i);
        CHECK(atomic_load(&calls) == round);
    }

    // Into a graph that there is, with dependencies of one's own.
    CUgraphNode root, *no_nodes = NULL;
    OK(cuGraphCreate(&graph, 0));
    OK(cuGraphAddEmptyNode(&root, graph, NULL, 0));
    OK(cuStreamBeginCaptureToGraph(one, graph, &root, NULL, 1, RELAXED));
    OK(cuLaunchHostFunc(one, call, NULL));
    OK(cuStreamUpdateCaptureDependencies(one, &root, 1, 1));
    OK(cuGraphLaunch(exec, one));
    OK(cuStreamGetCaptureInfo_v2(one, &status, NULL, NULL, &dependencies, &count));
    OK(cuGraphNodeGetType(dependencies[0], &type));
    CHECK(type == 4 && count == 1);
    OK(cuStreamUpdateCaptureDependencies(one, no_nodes, 0, 1));
    OK(cuStreamEndCapture(one, &seen));
    CHECK(seen == graph);
    OK(cuGraphNodeGetDependentNodes(root, NULL, &count));
    CHECK(count == 2);
    CUgraphExec bigger;
    OK(cuGraphInstantiateWithFlags(&bigger, graph, 0));
    OK(cuGraphLaunch(bigger, one));
    OK(cuStreamSynchronize(one));
    CHECK(atomic_load(&calls) == 5);

    // Mistakes.
    EXPECT(CAPTURE_UNMATCHED, cuStreamEndCapture(one, &graph));
    EXPECT(CAPTURE_UNSUPPORTED, cuStreamBeginCapture_v2(NULL, RELAXED));
    EXPECT(INVALID_VALUE, cuStreamBeginCapture_v2(one, 7));

    OK(cuStreamBeginCapture_v2(one, RELAXED));
    EXPECT(CAPTURE_UNSUPPORTED, cuStreamSynchronize(one));
    EXPECT(CAPTURE_INVALIDATED, launch(kernels.empty, 1, one, NULL));
    OK(cuStreamIsCapturing(one, &status));
    CHECK(status == 2);
    EXPECT(CAPTURE_INVALIDATED, cuStreamEndCapture(one, &graph));
    CHECK(graph == NULL);
    OK(cuStreamSynchronize(one));

    OK(cuStreamBeginCapture_v2(blocking, RELAXED));
    EXPECT(CAPTURE_IMPLICIT, launch(kernels.empty, 1, NULL, NULL));
    EXPECT(CAPTURE_INVALIDATED, cuStreamEndCapture(blocking, &graph));

    OK(cuStreamBeginCapture_v2(one, RELAXED));
    OK(cuEventRecord(fork, one));
    OK(cuStreamWaitEvent(other, fork, 0));
    OK(launch(kernels.empty, 1, other, NULL));
    EXPECT(CAPTURE_UNJOINED, cuStreamEndCapture(one, &graph));

    OK(cuEventRecord(join, other));
    OK(cuStreamBeginCapture_v2(one, RELAXED));
    EXPECT(CAPTURE_ISOLATION, cuStreamWaitEvent(one, join, 0));
    EXPECT(CAPTURE_INVALIDATED, cuStreamEndCapture(one, &graph));
    // Meant so: a node that waits.
    OK(cuStreamBeginCapture_v2(one, RELAXED));
    OK(cuStreamWaitEvent(one, join, 1));
    OK(cuEventRecordWithFlags(fork, one, 1));
    OK(cuStreamEndCapture(one, &graph));
    OK(cuGraphGetNodes(graph, NULL, &count));
    CHECK(count == 2);

    captured = one;
    OK(cuStreamBeginCapture_v2(one, THREAD_LOCAL));
    elsewhere(end_elsewhere, NULL);
    elsewhere(allocate_elsewhere, (void *)SUCCESS);
    int mode = RELAXED;
    CUdeviceptr more;
    OK(cuThreadExchangeStreamCaptureMode(&mode));
    CHECK(mode == GLOBAL);
    OK(cuMemAlloc_v2(&more, 16));
    OK(cuThreadExchangeStreamCaptureMode(&mode));
    CHECK(mode == RELAXED);
    EXPECT(CAPTURE_UNSUPPORTED, cuMemAlloc_v2(&more, 16));
    EXPECT(CAPTURE_INVALIDATED, cuStreamEndCapture(one, &graph));

    OK(cuStreamBeginCapture_v2(one, GLOBAL));
    elsewhere(allocate_elsewhere, (void *)CAPTURE_UNSUPPORTED);
    EXPECT(CAPTURE_INVALIDATED, cuStreamEndCapture(one, &graph));
    OK(cuStreamBeginCapture_v2(one, GLOBAL));
    EXPECT(CAPTURE_UNSUPPORTED, cuMemcpyHtoD_v2(memory, host, 16));
    EXPECT(CAPTURE_INVALIDATED, cuStreamEndCapture(one, &graph));

    OK(cuCtxSynchronize());
    OK(cuCtxDestroy_v2(context));
    return 0;
}
