// A kernel fails, each kind in its way. From then on every call that works with the context answers that very error,
// and none waits for ever. Another device's context goes on, and so does the failed one's successor.
#include "kernels.h"
#include <unistd.h>

static const char FAULTS[] =
    ".version 7.0\n"
    ".target sm_70\n"
    ".address_size 64\n"
    ".global .u32 word;\n"
    ".visible .entry stray() {\n"
    "  .reg .u64 %a;\n"
    "  mov.u64 %a, 64; st.global.u32 [%a], 1;\n"
    "  ret;\n"
    "}\n"
    ".visible .entry misaligned() {\n"
    "  .reg .u64 %a;\n"
    "  mov.u64 %a, word; st.global.u32 [%a+1], 1;\n"
    "  ret;\n"
    "}\n"
    // One thread ends the kernel while the others wait for it.
    ".visible .entry trap() {\n"
    "  .reg .u32 %t; .reg .pred %p;\n"
    "  mov.u32 %t, %tid.x; setp.eq.u32 %p, %t, 0;\n"
    "  @%p trap;\n"
    "  bar.sync 0;\n"
    "  ret;\n"
    "}\n"
    ".visible .entry call() {\n"
    "  .reg .u64 %a;\n"
    "  mov.u64 %a, 12345;\n"
    "  { call (), %a, (), proto; }\n"
    "  ret;\n"
    "proto: .callprototype () _ ();\n"
    "}\n"
    ".func deeper(.param .u32 depth) {\n"
    "  .local .b8 frame[1024]; .reg .u64 %a; .reg .u32 %n;\n"
    "  mov.u64 %a, frame; ld.param.u32 %n, [depth]; st.local.u32 [%a], %n; add.u32 %n, %n, 1;\n"
    "  { .param .u32 next; st.param.u32 [next], %n; call deeper, (next); }\n"
    "  ld.local.u32 %n, [%a]; st.local.u32 [%a+4], %n;\n"
    "  ret;\n"
    "}\n"
    ".visible .entry recursion() {\n"
    "  { .param .u32 next; st.param.u32 [next], 0; call deeper, (next); }\n"
    "  ret;\n"
    "}\n"
    ".visible .entry forever() {\n"
    "again:\n"
    "  bra again;\n"
    "}\n";

static void nothing(void *unused) { (void)unused; }

static void nothing_told(CUstream stream, CUresult result, void *unused) {
    (void)stream, (void)result, (void)unused;
}

static CUfunction find(CUmodule module, const char *name) {
    CUfunction function;
    OK(cuModuleGetFunction(&function, module, name));
    return function;
}

static void works(void) {
    Kernels kernels = load_kernels();
    OK(launch(kernels.empty, 32, NULL, NULL));
    OK(cuCtxSynchronize());
}

// What a program may have made before the fault.
static CUcontext context, other;
static CUmodule module;
static CUstream stream;
static CUevent event;
static CUdeviceptr memory, managed, pooled;
static void *pinned;
static char host[8192] __attribute__((aligned(4096)));
static CUgraphExec exec;
static Kernels kernels;

static void prepare(int primary) {
    CUgraph graph;
    CUgraphNode node;
    OK(cuCtxCreate_v2(&other, 0, 1));
    if (primary) {
        OK(cuDevicePrimaryCtxRetain(&context, 0));
        OK(cuCtxSetCurrent(context));
    } else
        OK(cuCtxCreate_v2(&context, 0, 0));
    OK(cuModuleLoadData(&module, FAULTS));
    kernels = load_kernels();
    OK(cuStreamCreate(&stream, 1));
    OK(cuEventCreate(&event, 0));
    OK(cuMemAlloc_v2(&memory, 4096));
    OK(cuMemAllocHost_v2(&pinned, 4096));
    OK(cuMemAllocManaged(&managed, 4096, 1));
    OK(cuMemAllocAsync(&pooled, 4096, stream));
    OK(cuMemHostRegister_v2(host, 4096, 0));
    OK(cuGraphCreate(&graph, 0));
    OK(cuGraphAddEmptyNode(&node, graph, NULL, 0));
    OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    OK(cuEventRecord(event, stream));
    OK(cuStreamSynchronize(stream));
}

static void refused(CUresult error) {
    CUstream new_stream;
    CUevent new_event;
    CUmodule new_module;
    CUfunction function;
    CUdeviceptr address;
    void *pointer;
    size_t size, total;
    unsigned flags;
    int number, block;
    float time;
    EXPECT(error, cuStreamSynchronize(stream));
    EXPECT(error, cuStreamQuery(stream));
    EXPECT(error, cuStreamCreate(&new_stream, 0));
    EXPECT(error, cuStreamWaitEvent(stream, event, 0));
    EXPECT(error, cuStreamAddCallback(stream, nothing_told, NULL, 0));
    EXPECT(error, cuLaunchHostFunc(stream, nothing, NULL));
    EXPECT(error, cuStreamBeginCapture_v2(stream, 0));
    EXPECT(error, cuEventCreate(&new_event, 0));
    EXPECT(error, cuEventRecord(event, stream));
    EXPECT(error, cuEventQuery(event));
    EXPECT(error, cuEventSynchronize(event));
    EXPECT(error, cuEventElapsedTime(&time, event, event));
    EXPECT(error, cuMemAlloc_v2(&address, 16));
    EXPECT(error, cuMemAllocAsync(&address, 16, stream));
    EXPECT(error, cuMemAllocManaged(&address, 16, 1));
    EXPECT(error, cuMemAllocHost_v2(&pointer, 16));
    EXPECT(error, cuMemHostAlloc(&pointer, 16, 0));
    EXPECT(error, cuMemHostRegister_v2(host + 4096, 4096, 0));
    EXPECT(error, cuMemHostUnregister(host));
    EXPECT(error, cuMemHostGetDevicePointer_v2(&address, pinned, 0));
    EXPECT(error, cuMemGetInfo_v2(&size, &total));
    EXPECT(error, cuPointerGetAttribute(&number, 2, memory));
    EXPECT(error, cuMemcpyHtoD_v2(memory, host, 64));
    EXPECT(error, cuMemcpyHtoD_v2(memory, host, 0));
    EXPECT(error, cuMemcpyDtoH_v2(host, memory, 64));
    EXPECT(error, cuMemcpyHtoDAsync_v2(memory, host, 64, stream));
    EXPECT(error, cuMemcpyHtoDAsync_v2(memory, host + 4096, 64, stream));
    EXPECT(error, cuMemcpyHtoDAsync_v2(memory, pinned, 64, stream));
    EXPECT(error, cuMemcpyDtoHAsync_v2(host + 4096, memory, 64, stream));
    EXPECT(error, cuMemcpyDtoD_v2(memory, managed, 64));
    EXPECT(error, cuMemcpyAsync(memory, managed, 64, stream));
    EXPECT(error, cuMemcpyPeerAsync(memory, context, managed, context, 64, stream));
    EXPECT(error, cuMemsetD8_v2(memory, 1, 64));
    EXPECT(error, cuMemsetD32Async(memory, 1, 16, stream));
    EXPECT(error, cuStreamWriteValue32_v2(stream, memory, 1, 0));
    EXPECT(error, cuStreamWaitValue32_v2(stream, memory, 7, 0));
    EXPECT(error, cuModuleLoadData(&new_module, KERNELS));
    EXPECT(error, cuModuleLoadDataEx(&new_module, KERNELS, 0, NULL, NULL));
    EXPECT(error, cuModuleGetFunction(&function, module, "stray"));
    EXPECT(error, cuModuleGetGlobal_v2(&address, &size, module, "word"));
    EXPECT(error, cuFuncGetAttribute(&number, 0, kernels.empty));
    EXPECT(error, cuFuncSetAttribute(kernels.empty, 8, 16));
    EXPECT(error, cuOccupancyMaxActiveBlocksPerMultiprocessor(&number, kernels.empty, 64, 0));
    EXPECT(error, cuOccupancyMaxPotentialBlockSize(&number, &block, kernels.empty, NULL, 0, 0));
    EXPECT(error, launch(kernels.empty, 1, stream, NULL));
    EXPECT(error, launch(kernels.empty, 1, NULL, NULL));
    EXPECT(error, cuGraphLaunch(exec, stream));
    EXPECT(error, cuCtxSynchronize());
    EXPECT(error, cuCtxGetFlags(&flags));
    EXPECT(error, cuCtxEnablePeerAccess(other, 0));
    for (int limit = 0; limit < 3; limit++) {
        EXPECT(error, cuCtxGetLimit(&size, limit));
        EXPECT(error, cuCtxSetLimit(limit, 16 << 20));
    }
    // Not even what would give something back.
    EXPECT(error, cuMemFree_v2(memory));
    EXPECT(error, cuMemFree_v2(pooled));
    EXPECT(error, cuMemFreeAsync(pooled, stream));
    EXPECT(error, cuMemFreeHost(pinned));
    EXPECT(error, cuModuleUnload(kernels.module));
    OK(cuStreamDestroy_v2(stream));
    OK(cuEventDestroy_v2(event));
}

static void fails(const char *name, int primary) {
    CUcontext current;
    prepare(primary);
    OK(cuLaunchKernel(find(module, name), 4, 1, 1, 64, 1, 1, 0, stream, NULL, NULL));
    if (!strcmp(name, "forever")) {
        // It ends when another kernel of its context fails.
        CUstream failing;
        OK(cuStreamCreate(&failing, 1));
        OK(launch(find(module, "stray"), 1, failing, NULL));
    }
    CUresult error = cuStreamSynchronize(stream);
    if (error < ILLEGAL_ADDRESS || error > LAUNCH_FAILED) {
        fprintf(stderr, "%s gives %d\n", name, error);
        exit(1);
    }
    refused(error);
    OK(cuCtxPushCurrent_v2(other));
    works();
    OK(cuCtxPopCurrent_v2(&current));
    if (primary) {
        OK(cuDevicePrimaryCtxReset_v2(0));
        OK(cuDevicePrimaryCtxRetain(&context, 0));
    } else {
        OK(cuCtxDestroy_v2(context));
        OK(cuCtxCreate_v2(&context, 0, 0));
    }
    // Memory of pools is the device's, and outlives the context.
    works();
    OK(cuMemFree_v2(pooled));
    if (primary) OK(cuDevicePrimaryCtxRelease_v2(0));
    else OK(cuCtxDestroy_v2(context));
    OK(cuCtxDestroy_v2(other));
}

int main(void) {
    static const char *const NAMES[] = {"stray", "misaligned", "trap", "call", "recursion", "forever"};
    OK(cuInit(0));
    for (unsigned i = 0; i < sizeof NAMES / sizeof *NAMES; i++)
        for (int primary = 0; primary < 2; primary++) fails(NAMES[i], primary);
    return 0;
}
