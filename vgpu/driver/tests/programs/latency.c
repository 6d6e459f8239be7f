// What an empty launch and its synchronisation take, in microseconds, on stdout. Fails when it is
// out of all proportion; the exact figure is for the benchmarks.
#include "kernels.h"
#include <time.h>

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1e6 + time.tv_nsec * 1e-3;
}

static int ascending(const void *one, const void *other) {
    double a = *(const double *)one, b = *(const double *)other;
    return (a > b) - (a < b);
}

enum { ROUNDS = 2000 };
static double times[ROUNDS];

static double report(const char *what) {
    qsort(times, ROUNDS, sizeof *times, ascending);
    printf("%-40s median %8.2f  best %8.2f  99%% %8.2f\n", what, times[ROUNDS / 2], times[0],
           times[ROUNDS * 99 / 100]);
    return times[0];
}

int main(void) {
    CUcontext context = start();
    Kernels kernels = load_kernels();
    CUstream stream;
    CUevent event;
    CUdeviceptr memory;
    unsigned one = 1;
    OK(cuStreamCreate(&stream, 1));
    OK(cuEventCreate(&event, 0));
    OK(cuMemAlloc_v2(&memory, 4096));
    for (int i = 0; i < 200; i++) OK(launch(kernels.empty, 32, stream, NULL));
    OK(cuStreamSynchronize(stream));

    for (int i = 0; i < ROUNDS; i++) {
        double start = now();
        OK(launch(kernels.empty, 1, stream, NULL));
        OK(cuStreamSynchronize(stream));
        times[i] = now() - start;
    }
    double best = report("empty launch, synchronise");
    for (int i = 0; i < ROUNDS; i++) {
        double start = now();
        OK(launch(kernels.empty, 1, NULL, NULL));
        OK(cuCtxSynchronize());
        times[i] = now() - start;
    }
    report("the same, default stream, context");
    for (int i = 0; i < ROUNDS; i++) {
        double start = now();
        OK(launch(kernels.empty, 1, stream, NULL));
        OK(cuEventRecord(event, stream));
        OK(cuEventSynchronize(event));
        times[i] = now() - start;
    }
    report("the same, with an event");
    for (int i = 0; i < ROUNDS; i++) {
        double start = now();
        OK(cuMemcpyHtoD_v2(memory, &one, sizeof one));
        times[i] = now() - start;
    }
    report("copy 4 bytes to the device");
    for (int i = 0; i < ROUNDS; i++) {
        double start = now();
        for (int j = 0; j < 10; j++) OK(launch(kernels.empty, 1, stream, NULL));
        times[i] = (now() - start) / 10;
        OK(cuStreamSynchronize(stream));
    }
    report("launch alone, of ten in a row");
    // What all rounds have to wait for, the best one has as well. The others may be those of a busy machine.
    CHECK(best < 1000);
    OK(cuCtxDestroy_v2(context));
    return 0;
}
