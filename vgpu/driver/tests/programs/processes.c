// Forks and exits with work under way: the child is told that nothing works there, and nobody hangs.
#include "kernels.h"
#include <sys/wait.h>
#include <unistd.h>

static void hold(void *unused) {
    (void)unused;
    for (;;) pause();
}

static void leave(void *status) { exit((int)(intptr_t)status); }

static int status_of(pid_t child) {
    int status;
    CHECK(waitpid(child, &status, 0) > 0);
    CHECK(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void use_in_child(CUstream stream, CUevent event, CUdeviceptr memory, CUfunction function) {
    unsigned value;
    CUstream other;
    EXPECT(NOT_INITIALIZED, cuInit(0));
    EXPECT(NOT_INITIALIZED, cuStreamSynchronize(stream));
    EXPECT(NOT_INITIALIZED, cuStreamQuery(stream));
    EXPECT(NOT_INITIALIZED, cuStreamCreate(&other, 0));
    EXPECT(NOT_INITIALIZED, cuEventSynchronize(event));
    EXPECT(NOT_INITIALIZED, cuMemcpyDtoH_v2(&value, memory, 4));
    EXPECT(NOT_INITIALIZED, launch(function, 1, stream, NULL));
    EXPECT(NOT_INITIALIZED, cuCtxSynchronize());
}

int main(void) {
    // In a child that starts the driver itself everything is as ever.
    if (fork() == 0) {
        start();
        Kernels kernels = load_kernels();
        OK(launch(kernels.empty, 1, NULL, NULL));
        OK(cuCtxSynchronize());
        // Leaves through the handlers of the process, while a stream is held up for ever.
        OK(cuLaunchHostFunc(NULL, hold, NULL));
        exit(3);
    }
    CHECK(status_of(-1) == 3);

    // A host function may end the process, while the program waits for it and another stream works.
    if (fork() == 0) {
        start();
        Kernels kernels = load_kernels();
        CUstream stream;
        OK(cuStreamCreate(&stream, 1));
        for (int i = 0; i < 1000; i++) OK(launch(kernels.empty, 64, stream, NULL));
        OK(cuLaunchHostFunc(NULL, leave, (void *)5));
        cuStreamSynchronize(NULL);
        for (;;) pause();
    }
    CHECK(status_of(-1) == 5);

    start();
    Kernels kernels = load_kernels();
    CUstream stream, held;
    CUevent event;
    CUdeviceptr memory;
    OK(cuStreamCreate(&stream, 1));
    OK(cuStreamCreate(&held, 1));
    OK(cuEventCreate(&event, 0));
    OK(cuMemAlloc_v2(&memory, 4));
    OK(cuLaunchHostFunc(held, hold, NULL));
    for (int round = 0; round < 20; round++) {
        for (int i = 0; i < 20; i++) {
            OK(launch(kernels.empty, 32, stream, NULL));
            OK(cuEventRecord(event, stream));
        }
        pid_t child = fork();
        if (child == 0) {
            use_in_child(stream, event, memory, kernels.empty);
            // One child in two leaves through the handlers.
            if (round % 2) exit(0);
            _exit(0);
        }
        CHECK(status_of(child) == 0);
    }
    // The parent has lost nothing.
    OK(cuStreamSynchronize(stream));
    EXPECT(NOT_READY, cuStreamQuery(held));
    exit(0);
}
