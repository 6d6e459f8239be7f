// GANGWAY_VGPU_UNIFIED=1: devices use all of the host's memory, as those do that have its page tables. `without` is
// the same program on devices that do not.
#include "kernels.h"
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

enum { PAGEABLE = 88, HOST_TABLES = 100, COUNT = 1000 };

CUresult cuDeviceGetAttribute(int *, int, CUdevice);
CUresult cuMemPrefetchAsync(CUdeviceptr, size_t, CUdevice, CUstream);
CUresult cuMemAdvise(CUdeviceptr, size_t, int, CUdevice);

static _Atomic unsigned flag, answer;

static void *release(void *unused) {
    (void)unused;
    usleep(20000);
    atomic_store(&flag, 7);
    return NULL;
}

static void without(void) {
    int has = -1;
    unsigned *memory = calloc(COUNT, sizeof *memory);
    CUcontext context;
    OK(cuInit(0));
    OK(cuDeviceGetAttribute(&has, PAGEABLE, 0));
    CHECK(has == 0);
    OK(cuCtxCreate_v2(&context, 0, 0));
    EXPECT(INVALID_VALUE, cuMemsetD32_v2((CUdeviceptr)memory, 1, COUNT));
    EXPECT(INVALID_VALUE, cuMemAdvise((CUdeviceptr)memory, COUNT, 1, 0));
    Kernels kernels = load_kernels();
    CUdeviceptr address = (CUdeviceptr)memory;
    unsigned value = 1;
    void *parameters[] = {&address, &value};
    OK(cuLaunchKernel(kernels.add, 1, 1, 1, 32, 1, 1, 0, NULL, parameters, NULL));
    EXPECT(ILLEGAL_ADDRESS, cuCtxSynchronize());
}

int main(int count, char **arguments) {
    if (count > 1) {
        without();
        return 0;
    }
    setenv("GANGWAY_VGPU_UNIFIED", "1", 1);
    int has = -1;
    CUcontext context;
    CUstream stream;
    OK(cuInit(0));
    for (CUdevice device = 0; device < 2; device++) {
        OK(cuDeviceGetAttribute(&has, PAGEABLE, device));
        CHECK(has == 1);
        OK(cuDeviceGetAttribute(&has, HOST_TABLES, device));
        CHECK(has == 1);
    }
    OK(cuCtxCreate_v2(&context, 0, 0));
    OK(cuStreamCreate(&stream, 1));
    Kernels kernels = load_kernels();

    unsigned *memory = calloc(COUNT, sizeof *memory), *copy = calloc(COUNT, sizeof *copy);
    CUdeviceptr address = (CUdeviceptr)memory;
    unsigned value = 5;
    void *parameters[] = {&address, &value};
    OK(cuMemsetD32_v2(address, 3, COUNT));
    OK(cuMemPrefetchAsync(address, COUNT * sizeof *memory, 0, stream));
    OK(cuMemAdvise(address, COUNT * sizeof *memory, 1, 0));
    OK(cuLaunchKernel(kernels.add, 10, 1, 1, 100, 1, 1, 0, stream, parameters, NULL));
    OK(cuStreamSynchronize(stream));
    for (int i = 0; i < COUNT; i++) CHECK(memory[i] == 8);
    OK(cuMemcpyDtoH_v2(copy, address, COUNT * sizeof *copy));
    CHECK(copy[COUNT - 1] == 8);
    // Memory that is not pinned is the program's again when a copy from it has been queued.
    OK(cuMemcpyHtoDAsync_v2(address, copy, COUNT * sizeof *copy, stream));
    memset(copy, 0, COUNT * sizeof *copy);
    OK(cuStreamSynchronize(stream));
    CHECK(memory[0] == 8 && memory[COUNT - 1] == 8);

    // A kernel waits for the host, which sees what it writes.
    CUdeviceptr flags = (CUdeviceptr)&flag, answers = (CUdeviceptr)&answer;
    unsigned awaited = 7;
    void *places[] = {&flags, &answers, &awaited};
    pthread_t thread;
    pthread_create(&thread, NULL, release, NULL);
    OK(cuLaunchKernel(kernels.await, 1, 1, 1, 1, 1, 1, 0, stream, places, NULL));
    while (atomic_load(&answer) != 7) usleep(50);
    pthread_join(thread, NULL);
    OK(cuStreamSynchronize(stream));

    // What is nowhere is a fault.
    OK(cuLaunchKernel(kernels.stray, 1, 1, 1, 1, 1, 1, 0, stream, NULL, NULL));
    EXPECT(ILLEGAL_ADDRESS, cuStreamSynchronize(stream));

    unsetenv("GANGWAY_VGPU_UNIFIED");
    char command[4096];
    snprintf(command, sizeof command, "'%s' without", arguments[0]);
    return system(command) != 0;
}
