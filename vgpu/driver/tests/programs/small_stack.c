// Threads with hardly any stack use the API like all others: nothing large runs on them.
#include "kernels.h"
#include <limits.h>
#include <pthread.h>

static CUcontext context;

static void *run(void *unused) {
    (void)unused;
    CUdeviceptr memory;
    unsigned value = 1, result[64];
    void *add[] = {&memory, &value};
    OK(cuCtxSetCurrent(context));
    // Its first launch: the kernel has not been compiled yet.
    Kernels kernels = load_kernels();
    OK(cuMemAlloc_v2(&memory, sizeof result));
    OK(cuMemsetD32_v2(memory, 1, 64));
    OK(launch(kernels.add, 64, NULL, add));
    OK(cuMemcpyDtoH_v2(result, memory, sizeof result));
    CHECK(result[0] == 2 && result[63] == 2);
    OK(cuMemFree_v2(memory));
    return NULL;
}

int main(void) {
    pthread_attr_t attributes;
    pthread_t thread;
    context = start();
    pthread_attr_init(&attributes);
    CHECK(pthread_attr_setstacksize(&attributes, 128 << 10) == 0);
    for (int i = 0; i < 4; i++) {
        CHECK(pthread_create(&thread, &attributes, run, NULL) == 0);
        pthread_join(thread, NULL);
    }
    OK(cuCtxDestroy_v2(context));
    return 0;
}
