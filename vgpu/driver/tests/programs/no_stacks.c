// The process may have no more memory when a launch needs stacks for its warps. The launch fails and says so; with memory
// again, the next context runs it.
#include "kernels.h"
#include <sys/resource.h>

// Bytes of the process that count for the limit.
static rlim_t data(void) {
    char line[200];
    unsigned long kib = 0;
    FILE *status = fopen("/proc/self/status", "r");
    CHECK(status != NULL);
    while (fgets(line, sizeof line, status) != NULL) sscanf(line, "VmData: %lu", &kib);
    fclose(status);
    CHECK(kib > 0);
    return (rlim_t)kib << 10;
}

int main(void) {
    CUcontext context = start();
    CUdeviceptr memory;
    struct rlimit limit;
    unsigned value = 1, result[1024];
    void *add[] = {&memory, &value};
    Kernels kernels = load_kernels();
    OK(cuMemAlloc_v2(&memory, sizeof result));
    OK(cuMemsetD32_v2(memory, 1, 1024));
    // What one warp needs is there from here on.
    OK(launch(kernels.add, 32, NULL, add));
    OK(cuCtxSynchronize());
    CHECK(getrlimit(RLIMIT_DATA, &limit) == 0);
    // Enough for messages, and not for the stacks of 32 warps.
    struct rlimit little = {data() + (6 << 20), limit.rlim_max};
    CHECK(setrlimit(RLIMIT_DATA, &little) == 0);
    CUresult launched = launch(kernels.add, 1024, NULL, add), waited = cuCtxSynchronize();
    CHECK(setrlimit(RLIMIT_DATA, &limit) == 0);
    CHECK(launched != SUCCESS || waited != SUCCESS);
    CHECK(cuCtxSynchronize() != SUCCESS);
    cuCtxDestroy_v2(context);

    OK(cuCtxCreate_v2(&context, 0, 0));
    kernels = load_kernels();
    OK(cuMemAlloc_v2(&memory, sizeof result));
    OK(cuMemsetD32_v2(memory, 1, 1024));
    OK(launch(kernels.add, 1024, NULL, add));
    OK(cuMemcpyDtoH_v2(result, memory, sizeof result));
    CHECK(result[0] == 2 && result[1023] == 2);
    OK(cuCtxDestroy_v2(context));
    return 0;
}
