// Graphs, made node by node: what they compute, and what can be asked and changed.
#include "kernels.h"
#include <stdatomic.h>
#include <unistd.h>

enum { N = 64 };
static atomic_int calls;
static CUcontext context;
static CUstream stream;
static CUdeviceptr memory;
static unsigned *host;

static void call(void *amount) { atomic_fetch_add(&calls, *(int *)amount); }

static KernelNode kernel(CUfunction function, void **parameters) {
    return (KernelNode){function, 1, 1, 1, N, 1, 1, 0, parameters, NULL, NULL, NULL};
}

static Memcpy3D to_host(void) {
    return (Memcpy3D){.srcType = 2, .srcDevice = memory, .dstType = 1, .dstHost = host, .width = N * 4, .height = 1,
                      .depth = 1};
}

static void launch_graph(CUgraphExec exec) {
    memset(host, 0xff, N * 4);
    OK(cuGraphLaunch(exec, stream));
    OK(cuStreamSynchronize(stream));
}

int main(void) {
    context = start();
    Kernels kernels = load_kernels();
    OK(cuStreamCreate(&stream, 1));
    OK(cuMemAlloc_v2(&memory, N * 4));
    OK(cuMemAllocHost_v2((void **)&host, N * 4));

    // memset -> add -> twice -> copy, and a host function beside.
    CUgraph graph;
    CUgraphNode fill, add, twice, copy, function, empty;
    unsigned value = 3;
    int amount = 5;
    void *add_parameters[] = {&memory, &value}, *twice_parameters[] = {&memory};
    KernelNode add_node = kernel(kernels.add, add_parameters), twice_node = kernel(kernels.twice, twice_parameters);
    MemsetNode fill_node = {memory, 0, 10, 4, N, 1};
    Memcpy3D copy_node = to_host();
    HostNode host_node = {call, &amount};
    OK(cuGraphCreate(&graph, 0));
    EXPECT(INVALID_VALUE, cuGraphCreate(&graph, 1));
    OK(cuGraphAddMemsetNode(&fill, graph, NULL, 0, &fill_node, context));
    OK(cuGraphAddKernelNode_v2(&add, graph, &fill, 1, &add_node));
    OK(cuGraphAddKernelNode_v2(&twice, graph, &add, 1, &twice_node));
    OK(cuGraphAddMemcpyNode(&copy, graph, NULL, 0, &copy_node, context));
    OK(cuGraphAddDependencies(graph, &twice, &copy, 1));
    EXPECT(INVALID_VALUE, cuGraphAddDependencies(graph, &twice, &copy, 1));
    OK(cuGraphAddHostNode(&function, graph, NULL, 0, &host_node));
    CUgraphNode ends[] = {copy, function};
    OK(cuGraphAddEmptyNode(&empty, graph, ends, 2));
    // The parameters are the graph's own now.
    value = 1000;

    CUgraphExec exec;
    OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    OK(cuGraphUpload(exec, stream));
    for (int round = 1; round <= 3; round++) {
        launch_graph(exec);
        for (unsigned i = 0; i < N; i++) CHECK(host[i] == 2 * (10 + 3) + i);
        CHECK(atomic_load(&calls) == round * amount);
    }

    // Launches in two streams at once do not mix.
    CUstream other;
    OK(cuStreamCreate(&other, 1));
    for (int round = 0; round < 50; round++) {
        OK(cuGraphLaunch(exec, stream));
        OK(cuGraphLaunch(exec, other));
    }
    OK(cuStreamSynchronize(stream));
    OK(cuStreamSynchronize(other));
    for (unsigned i = 0; i < N; i++) CHECK(host[i] == 2 * (10 + 3) + i);

    // What it is like.
    CUgraphNode nodes[8], from[8], to[8];
    size_t count = 0;
    int type;
    OK(cuGraphGetNodes(graph, NULL, &count));
    CHECK(count == 6);
    count = 8;
    OK(cuGraphGetNodes(graph, nodes, &count));
    CHECK(count == 6 && nodes[0] == fill && nodes[5] == empty && nodes[7] == NULL);
    count = 8;
    OK(cuGraphGetRootNodes(graph, nodes, &count));
    CHECK(count == 2 && nodes[0] == fill && nodes[1] == function);
    OK(cuGraphGetEdges(graph, NULL, NULL, &count));
    CHECK(count == 5);
    count = 8;
    OK(cuGraphGetEdges(graph, from, to, &count));
    CHECK(count == 5 && from[0] == fill && to[0] == add && from[7] == NULL);
    count = 8;
    OK(cuGraphNodeGetDependencies(copy, nodes, &count));
    CHECK(count == 1 && nodes[0] == twice);
    count = 8;
    OK(cuGraphNodeGetDependentNodes(fill, nodes, &count));
    CHECK(count == 1 && nodes[0] == add);
    CUgraphNode each[] = {add, copy, fill, function, empty};
    int types[] = {0, 1, 2, 3, 5};
    for (int i = 0; i < 5; i++) {
        OK(cuGraphNodeGetType(each[i], &type));
        CHECK(type == types[i]);
    }

    // Parameters come back as they went in.
    KernelNode kernel_read;
    MemsetNode fill_read;
    HostNode host_read;
    Memcpy3D copy_read;
    OK(cuGraphKernelNodeGetParams_v2(add, &kernel_read));
    CHECK(kernel_read.func == kernels.add && kernel_read.blockDimX == N && kernel_read.ctx == context);
    CHECK(*(CUdeviceptr *)kernel_read.kernelParams[0] == memory && *(unsigned *)kernel_read.kernelParams[1] == 3);
    OK(cuGraphMemsetNodeGetParams(fill, &fill_read));
    CHECK(fill_read.dst == memory && fill_read.value == 10 && fill_read.elementSize == 4 && fill_read.width == N);
    OK(cuGraphHostNodeGetParams(function, &host_read));
    CHECK(host_read.fn == call && host_read.userData == &amount);
    OK(cuGraphMemcpyNodeGetParams(copy, &copy_read));
    CHECK(copy_read.srcDevice == memory && copy_read.dstHost == host && copy_read.width == N * 4);
    EXPECT(INVALID_VALUE, cuGraphKernelNodeGetParams_v2(fill, &kernel_read));

    // Changes of an executable graph, node by node.
    value = 7;
    OK(cuGraphExecKernelNodeSetParams_v2(exec, add, &add_node));
    launch_graph(exec);
    for (unsigned i = 0; i < N; i++) CHECK(host[i] == 2 * (10 + 7) + i);
    fill_node.value = 1;
    OK(cuGraphExecMemsetNodeSetParams(exec, fill, &fill_node, context));
    launch_graph(exec);
    for (unsigned i = 0; i < N; i++) CHECK(host[i] == 2 * (1 + 7) + i);
    EXPECT(INVALID_VALUE, cuGraphExecMemsetNodeSetParams(exec, add, &fill_node, context));
    // A node without a size cannot run, and gets one before a launch: grid or block, in the executable graph or before.
    KernelNode sizes[] = {add_node, add_node};
    sizes[0].gridDimX = 0;
    sizes[1].blockDimX = 0;
    for (int i = 0; i < 2; i++) {
        CUgraph unsized_graph;
        CUgraphNode unsized_node;
        CUgraphExec unsized_exec;
        EXPECT(INVALID_VALUE, cuLaunchKernel(kernels.add, sizes[i].gridDimX, 1, 1, sizes[i].blockDimX, 1, 1, 0, stream,
                                             add_parameters, NULL));
        OK(cuGraphCreate(&unsized_graph, 0));
        OK(cuGraphAddKernelNode_v2(&unsized_node, unsized_graph, NULL, 0, &sizes[i]));
        OK(cuGraphInstantiateWithFlags(&unsized_exec, unsized_graph, 0));
        EXPECT(INVALID_VALUE, cuGraphLaunch(unsized_exec, stream));
        OK(cuGraphNodeSetEnabled(unsized_exec, unsized_node, 0));
        OK(cuGraphLaunch(unsized_exec, stream));
        OK(cuGraphNodeSetEnabled(unsized_exec, unsized_node, 1));
        OK(cuGraphExecKernelNodeSetParams_v2(unsized_exec, unsized_node, &add_node));
        OK(cuMemsetD32_v2(memory, 1, N));
        launch_graph(unsized_exec);
        OK(cuMemcpyDtoH_v2(host, memory, N * 4));
        for (unsigned j = 0; j < N; j++) CHECK(host[j] == 1 + value);
        // Back to nothing, and another size in the graph itself.
        OK(cuGraphExecKernelNodeSetParams_v2(unsized_exec, unsized_node, &sizes[i]));
        EXPECT(INVALID_VALUE, cuGraphLaunch(unsized_exec, stream));
        OK(cuGraphKernelNodeSetParams_v2(unsized_node, &add_node));
        OK(cuGraphExecUpdate_v2(unsized_exec, unsized_graph, &(struct { int result; CUgraphNode node, from; }){0}));
        OK(cuGraphLaunch(unsized_exec, stream));
        OK(cuStreamSynchronize(stream));
        // What is too large is refused at once.
        KernelNode large = add_node;
        large.blockDimX = 1025;
        EXPECT(INVALID_VALUE, cuGraphKernelNodeSetParams_v2(unsized_node, &large));
        OK(cuGraphExecDestroy(unsized_exec));
        OK(cuGraphDestroy(unsized_graph));
    }

    unsigned enabled;
    OK(cuGraphNodeSetEnabled(exec, twice, 0));
    OK(cuGraphNodeGetEnabled(exec, twice, &enabled));
    CHECK(enabled == 0);
    launch_graph(exec);
    for (unsigned i = 0; i < N; i++) CHECK(host[i] == 1 + 7);
    OK(cuGraphNodeSetEnabled(exec, twice, 1));

    // A clone, changed, brings the executable graph up to date.
    CUgraph clone;
    CUgraphNode copied;
    struct {
        int result;
        CUgraphNode node, from;
    } update;
    OK(cuGraphClone(&clone, graph));
    OK(cuGraphNodeFindInClone(&copied, add, clone));
    CHECK(copied != add);
    value = 100;
    OK(cuGraphKernelNodeSetParams_v2(copied, &add_node));
    OK(cuGraphExecUpdate_v2(exec, clone, &update));
    CHECK(update.result == 0);
    launch_graph(exec);
    for (unsigned i = 0; i < N; i++) CHECK(host[i] == 2 * (10 + 100) + i);
    OK(cuGraphDestroyNode(copied));
    EXPECT(INVALID_VALUE, cuGraphDestroyNode(copied));
    EXPECT(INVALID_VALUE, cuGraphNodeFindInClone(&copied, add, clone));
    EXPECT(GRAPH_UPDATE_FAILURE, cuGraphExecUpdate_v2(exec, clone, &update));
    CHECK(update.result == 2);
    OK(cuGraphDestroy(clone));

    // A graph in a graph.
    CUgraph outer, inner;
    CUgraphNode child, after;
    CUgraphExec outer_exec;
    OK(cuGraphCreate(&outer, 0));
    OK(cuGraphAddChildGraphNode(&child, outer, NULL, 0, graph));
    OK(cuGraphAddMemcpyNode(&after, outer, &child, 1, &copy_node, context));
    OK(cuGraphChildGraphNodeGetGraph(child, &inner));
    CHECK(inner != graph);
    count = 0;
    OK(cuGraphGetNodes(inner, NULL, &count));
    CHECK(count == 6);
    OK(cuGraphInstantiateWithFlags(&outer_exec, outer, 0));
    launch_graph(outer_exec);
    for (unsigned i = 0; i < N; i++) CHECK(host[i] == 2 * (10 + 3) + i);
    OK(cuGraphDestroy(outer));
    EXPECT(INVALID_VALUE, cuGraphGetNodes(inner, NULL, &count));
    launch_graph(outer_exec);
    for (unsigned i = 0; i < N; i++) CHECK(host[i] == 2 * (10 + 3) + i);

    // A cycle cannot be run.
    CUgraphExec none;
    char log[64] = "?";
    OK(cuGraphAddDependencies(graph, &copy, &fill, 1));
    EXPECT(INVALID_VALUE, cuGraphInstantiateWithFlags(&none, graph, 0));
    EXPECT(INVALID_VALUE, cuGraphInstantiate_v2(&none, graph, NULL, log, sizeof log));
    CHECK(strstr(log, "cycle") != NULL);
    OK(cuGraphRemoveDependencies(graph, &copy, &fill, 1));
    EXPECT(INVALID_VALUE, cuGraphRemoveDependencies(graph, &copy, &fill, 1));

    // Nodes that record and wait, and the general way to add one.
    CUevent event, found;
    CUgraphNode record, wait;
    CUgraph events;
    CUgraphExec events_exec;
    OK(cuEventCreate(&event, 0));
    OK(cuGraphCreate(&events, 0));
    OK(cuGraphAddEventWaitNode(&wait, events, NULL, 0, event));
    OK(cuGraphAddEventRecordNode(&record, events, &wait, 1, event));
    OK(cuGraphEventRecordNodeGetEvent(record, &found));
    CHECK(found == event);
    EXPECT(INVALID_VALUE, cuGraphEventRecordNodeGetEvent(wait, &found));
    struct {
        int type, reserved[3];
        union {
            HostNode host;
            long long space[29];
        } u;
        long long end;
    } any = {.type = 3, .u.host = host_node};
    OK(cuGraphAddNode(&function, events, &record, 1, &any));
    any.type = 8;
    EXPECT(NOT_SUPPORTED, cuGraphAddNode(&function, events, &record, 1, &any));
    EXPECT(INVALID_VALUE, cuGraphAddNode(&function, events, &add, 1, &any));
    OK(cuGraphInstantiateWithFlags(&events_exec, events, 0));
    int before = atomic_load(&calls);
    OK(cuGraphLaunch(events_exec, stream));
    OK(cuEventSynchronize(event));
    OK(cuStreamSynchronize(stream));
    CHECK(atomic_load(&calls) == before + amount);
    OK(cuGraphDebugDotPrint(events, "/dev/null", 0));

    // Objects live as long as something refers to them.
    CUuserObject object;
    int object_amount = 1000;
    OK(cuUserObjectCreate(&object, &object_amount, call, 1, 1));
    OK(cuGraphRetainUserObject(events, object, 1, 1));
    CUgraphExec keeper;
    OK(cuGraphInstantiateWithFlags(&keeper, events, 0));
    // The program's reference was moved to the graph, which can give it back all the same.
    OK(cuGraphReleaseUserObject(events, object, 1));
    EXPECT(INVALID_VALUE, cuGraphReleaseUserObject(events, object, 1));
    OK(cuGraphDestroy(events));
    before = atomic_load(&calls);
    CHECK(before < 1000);
    OK(cuGraphExecDestroy(keeper));
    CHECK(atomic_load(&calls) == before + 1000);
    EXPECT(INVALID_VALUE, cuUserObjectRelease(object, 1));

    // References are counted, however many: billions take no memory, and more than fit are refused.
    const unsigned many = 0x7fffffff;
    CUgraph holder;
    OK(cuGraphCreate(&holder, 0));
    OK(cuUserObjectCreate(&object, &object_amount, call, 1, 1));
    OK(cuGraphRetainUserObject(holder, object, many, 0));
    OK(cuGraphRetainUserObject(holder, object, many, 0));
    EXPECT(INVALID_VALUE, cuGraphRetainUserObject(holder, object, many, 0));
    OK(cuUserObjectRetain(object, many));
    OK(cuUserObjectRetain(object, many));
    EXPECT(INVALID_VALUE, cuUserObjectRetain(object, many));
    // More than the program has cannot be moved, and the graph gets nothing.
    OK(cuUserObjectRelease(object, many));
    OK(cuUserObjectRelease(object, many));
    OK(cuGraphReleaseUserObject(holder, object, many));
    EXPECT(INVALID_VALUE, cuGraphRetainUserObject(holder, object, 2, 1));
    EXPECT(INVALID_VALUE, cuGraphReleaseUserObject(holder, object, many + 1u));
    OK(cuGraphReleaseUserObject(holder, object, many));
    EXPECT(INVALID_VALUE, cuGraphReleaseUserObject(holder, object, 1));
    OK(cuGraphDestroy(holder));
    before = atomic_load(&calls);
    OK(cuUserObjectRelease(object, 1));
    CHECK(atomic_load(&calls) == before + 1000);

    // Memory that has gone when the graph runs is an error, no crash.
    OK(cuMemFree_v2(memory));
    OK(cuGraphLaunch(exec, stream));
    EXPECT(ILLEGAL_ADDRESS, cuStreamSynchronize(stream));
    OK(cuCtxDestroy_v2(context));
    EXPECT(INVALID_VALUE, cuGraphLaunch((CUgraphExec)graph, stream));
    return 0;
}
