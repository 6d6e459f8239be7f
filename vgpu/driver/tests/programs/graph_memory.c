// Memory that graphs allocate: its address is known from the beginning, and it lives from node to node.
#include "kernels.h"

enum { USED, USED_HIGH, RESERVED, RESERVED_HIGH };
enum { N = 64, SIZE = N * 4 };

static uint64_t get(int attribute) {
    uint64_t value;
    OK(cuDeviceGetGraphMemAttribute(0, attribute, &value));
    return value;
}

static void made_by_hand(CUcontext context, CUstream stream, unsigned *host) {
    CUgraph graph;
    CUgraphNode allocate, fill, copy, release;
    CUgraphExec exec;
    AllocationNode node = {.properties = {.allocType = 1, .location = {1, 0}}, .size = SIZE}, read;
    CUdeviceptr freed;
    OK(cuGraphCreate(&graph, 0));
    OK(cuGraphAddMemAllocNode(&allocate, graph, NULL, 0, &node));
    CHECK(node.address != 0 && get(RESERVED) == SIZE && get(USED) == 0);
    OK(cuGraphMemAllocNodeGetParams(allocate, &read));
    CHECK(read.address == node.address && read.size == SIZE && read.properties.location.type == 1);
    MemsetNode fill_node = {node.address, 0, 77, 4, N, 1};
    Memcpy3D copy_node = {.srcType = 2, .srcDevice = node.address, .dstType = 1, .dstHost = host, .width = SIZE,
                          .height = 1, .depth = 1};
    OK(cuGraphAddMemsetNode(&fill, graph, &allocate, 1, &fill_node, context));
    OK(cuGraphAddMemcpyNode(&copy, graph, &fill, 1, &copy_node, context));
    OK(cuGraphAddMemFreeNode(&release, graph, &copy, 1, node.address));
    OK(cuGraphMemFreeNodeGetParams(release, &freed));
    CHECK(freed == node.address);
    EXPECT(INVALID_VALUE, cuGraphAddMemFreeNode(&release, graph, &copy, 1, 0x1000));
    node.size = 0;
    EXPECT(INVALID_VALUE, cuGraphAddMemAllocNode(&allocate, graph, NULL, 0, &node));
    OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    OK(cuGraphDestroy(graph));
    for (int round = 0; round < 3; round++) {
        memset(host, 0, SIZE);
        OK(cuGraphLaunch(exec, stream));
        OK(cuStreamSynchronize(stream));
        CHECK(host[0] == 77 && host[N - 1] == 77 && get(USED) == 0 && get(USED_HIGH) == SIZE);
    }
    OK(cuGraphExecDestroy(exec));
    CHECK(get(RESERVED) == 0);
}

// Without a node that frees, the memory is the program's, and outlives the graph.
static void captured(Kernels *kernels, CUstream stream, unsigned *host) {
    CUgraph graph;
    CUgraphExec exec;
    CUdeviceptr kept, passing;
    unsigned value = 5;
    OK(cuStreamBeginCapture_v2(stream, 2));
    OK(cuMemAllocAsync(&kept, SIZE, stream));
    OK(cuMemAllocAsync(&passing, SIZE, stream));
    void *add[] = {&kept, &value};
    OK(cuMemsetD32Async(passing, 1, N, stream));
    OK(cuMemcpyDtoDAsync_v2(kept, passing, SIZE, stream));
    OK(cuMemFreeAsync(passing, stream));
    OK(launch(kernels->add, N, stream, add));
    OK(cuStreamEndCapture(stream, &graph));
    OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    OK(cuGraphLaunch(exec, stream));
    OK(cuStreamSynchronize(stream));
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(graph));
    CHECK(get(USED) == SIZE && get(RESERVED) == SIZE);
    OK(cuMemcpyDtoH_v2(host, kept, SIZE));
    CHECK(host[0] == 6 && host[N - 1] == 6);
    EXPECT(INVALID_VALUE, cuMemFreeAsync(passing, stream));
    OK(cuMemFreeAsync(kept, stream));
    OK(cuStreamSynchronize(stream));
    CHECK(get(USED) == 0 && get(RESERVED) == 0);
    EXPECT(INVALID_VALUE, cuMemFree_v2(kept));
}

int main(void) {
    CUcontext context = start();
    Kernels kernels = load_kernels();
    CUstream stream;
    unsigned *host;
    OK(cuStreamCreate(&stream, 1));
    OK(cuMemAllocHost_v2((void **)&host, SIZE));
    made_by_hand(context, stream, host);
    captured(&kernels, stream, host);
    uint64_t zero = 0, one = 1;
    OK(cuDeviceSetGraphMemAttribute(0, USED_HIGH, &zero));
    CHECK(get(USED_HIGH) == 0 && get(RESERVED_HIGH) == 2 * SIZE);
    EXPECT(INVALID_VALUE, cuDeviceSetGraphMemAttribute(0, USED_HIGH, &one));
    EXPECT(INVALID_VALUE, cuDeviceSetGraphMemAttribute(0, USED, &zero));
    OK(cuDeviceGraphMemTrim(0));
    OK(cuCtxDestroy_v2(context));
    return 0;
}
