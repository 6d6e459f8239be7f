// More streams than processors: all of them get on, waiting costs no processor time, and the threads go again.
#include "kernels.h"
#include <dirent.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum { STREAMS = 100, NAP = 300000 };

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec + time.tv_nsec * 1e-9;
}

static double processor(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_utime.tv_sec + usage.ru_stime.tv_sec + (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-6;
}

static int threads(void) {
    DIR *folder = opendir("/proc/self/task");
    int count = -2;
    CHECK(folder != NULL);
    while (readdir(folder) != NULL) count++;
    closedir(folder);
    return count;
}

static atomic_int inside;
static pthread_barrier_t all;

// Sleeps until the functions of all streams are inside, and `let_go` has looked at them.
static void meet(void *unused) {
    (void)unused;
    atomic_fetch_add(&inside, 1);
    pthread_barrier_wait(&all);
}

// The main thread waits for the context meanwhile.
static void *let_go(void *unused) {
    // With fewer threads than streams this would go on until the test's time is up.
    while (atomic_load(&inside) < STREAMS) usleep(1000);
    double began = now(), used = processor();
    usleep(NAP);
    used = processor() - used;
    CHECK(used < (now() - began) / 2);
    pthread_barrier_wait(&all);
    return unused;
}

int main(void) {
    CUcontext context = start();
    Kernels kernels = load_kernels();
    static CUstream streams[STREAMS];
    // Idle streams need no thread each.
    for (int i = 0; i < STREAMS; i++) OK(cuStreamCreate(&streams[i], 1));
    for (int round = 0; round < 5; round++)
        for (int i = 0; i < STREAMS; i++) OK(launch(kernels.empty, 64, streams[i], NULL));
    OK(cuCtxSynchronize());
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    int few = threads();
    CHECK(few < 3 * processors + 20);

    pthread_t thread;
    CHECK(pthread_barrier_init(&all, NULL, STREAMS + 1) == 0);
    for (int i = 0; i < STREAMS; i++) OK(cuLaunchHostFunc(streams[i], meet, NULL));
    CHECK(pthread_create(&thread, NULL, let_go, NULL) == 0);
    OK(cuCtxSynchronize());
    CHECK(pthread_join(thread, NULL) == 0);
    for (int i = 0; i < 600 && threads() > few + 4; i++) usleep(50000);
    CHECK(threads() <= few + 4);
    OK(cuCtxDestroy_v2(context));
    return 0;
}
