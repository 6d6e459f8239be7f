// Forks at any moment of what other threads do with the driver: no child waits for a thread that it does not have.
#include "kernels.h"
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

enum { INITS = 150, FORKS = 150, LIMIT = 20 };

CUresult cuGetProcAddress(const char *, void **, int, uint64_t);
CUresult cuGetExportTable(const void **, const void *);
CUresult cuDeviceGetCount(int *);

static atomic_int started, ends;
static CUcontext context;

// The status of a child that ends by itself, within the limit that it has set itself.
static int status_of(pid_t child) {
    int status;
    CHECK(waitpid(child, &status, 0) == child);
    if (WIFSIGNALED(status)) fprintf(stderr, "signal %d\n", WTERMSIG(status));
    CHECK(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void *initialise(void *unused) {
    (void)unused;
    void *function;
    atomic_store(&started, 1);
    OK(cuGetProcAddress("cuInit", &function, 12000, 0));
    OK(cuInit(0));
    return NULL;
}

// What a child may call, whenever it was forked.
static int answers(void) {
    static const unsigned char runtime[16] = {0x6b, 0xd5, 0xfb, 0x6c, 0x5b, 0xf4, 0xe7, 0x4a,
                                              0x89, 0x87, 0xd9, 0x39, 0x12, 0xfd, 0x9d, 0xf9};
    const void *table;
    void *function;
    int count;
    if (cuGetExportTable(&table, runtime) != 801) return 1;
    if (cuGetProcAddress("cuMemAlloc", &function, 12000, 0) != 0) return 2;
    CUresult result = cuInit(0);
    if (result != 0 && result != 3) return 3;
    return cuDeviceGetCount(&count) == result ? 0 : 4;
}

static void *load_garbage(void *unused) {
    (void)unused;
    CUmodule module;
    OK(cuCtxSetCurrent(context));
    // Each says on stderr what is wrong.
    while (!atomic_load(&ends)) CHECK(cuModuleLoadData(&module, "nothing of the kind") == 200);
    return NULL;
}

static void *allocate(void *unused) {
    (void)unused;
    CUdeviceptr memory;
    OK(cuCtxSetCurrent(context));
    while (!atomic_load(&ends)) {
        OK(cuMemAlloc_v2(&memory, 4096));
        OK(cuMemFree_v2(memory));
    }
    return NULL;
}

static void *run_kernels(void *unused) {
    (void)unused;
    OK(cuCtxSetCurrent(context));
    while (!atomic_load(&ends)) {
        Kernels kernels = load_kernels();
        // In this thread's own stream.
        CUstream stream = (CUstream)2;
        for (int i = 0; i < 10; i++) OK(launch(kernels.empty, 64, stream, NULL));
        OK(cuStreamSynchronize(stream));
        OK(cuModuleUnload(kernels.module));
    }
    return NULL;
}

// A thread with work of its own forks, and its child leaves through the end of that thread.
static void *fork_and_leave(void *unused) {
    (void)unused;
    OK(cuCtxSetCurrent(context));
    Kernels kernels = load_kernels();
    OK(launch(kernels.empty, 64, (CUstream)2, NULL));
    pid_t child = fork();
    if (child == 0) {
        alarm(LIMIT);
        pthread_exit(NULL);
    }
    CHECK(status_of(child) == 0);
    OK(cuModuleUnload(kernels.module));
    return NULL;
}

int main(void) {
    int quiet = open("/dev/null", O_WRONLY);
    // While the driver starts.
    for (int round = 0; round < INITS; round++) {
        pid_t process = fork();
        if (process == 0) {
            pthread_t thread;
            alarm(LIMIT);
            dup2(quiet, 2);
            pthread_create(&thread, NULL, initialise, NULL);
            while (!atomic_load(&started)) {}
            for (volatile int wait = 0; wait < round * 200; wait++) {}
            pid_t child = fork();
            if (child == 0) {
                alarm(LIMIT);
                exit(answers());
            }
            int status = status_of(child);
            pthread_join(thread, NULL);
            exit(status);
        }
        CHECK(status_of(process) == 0);
    }

    // While everything is in use.
    context = start();
    void *(*const work[])(void *) = {load_garbage, allocate, run_kernels, run_kernels};
    pthread_t threads[4], forking;
    int told = dup(2);
    dup2(quiet, 2);
    for (int i = 0; i < 4; i++) pthread_create(&threads[i], NULL, work[i], NULL);
    for (int round = 0; round < FORKS; round++) {
        pid_t child = fork();
        if (child == 0) {
            alarm(LIMIT);
            CUdeviceptr memory;
            if (cuInit(0) != 3 || cuMemAlloc_v2(&memory, 4) != 3) _exit(5);
            int status = answers();
            if (round % 3 == 0) execl("/bin/true", "true", (char *)NULL);
            if (round % 3 == 1) _exit(status);
            exit(status);
        }
        CHECK(status_of(child) == 0);
        if (round % 8 == 0) {
            pthread_create(&forking, NULL, fork_and_leave, NULL);
            pthread_join(forking, NULL);
        }
    }
    atomic_store(&ends, 1);
    for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
    dup2(told, 2);
    OK(cuCtxSynchronize());
    return 0;
}
