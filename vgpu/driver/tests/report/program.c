// Two kernels, copies, a stream; then an end of the kind that the argument names.
#include "../programs/cuda_api.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

CUresult cuGetExportTable(const void **, const void *);

static const char IMAGE[] =
    ".version 7.0\n"
    ".target sm_70\n"
    ".address_size 64\n"
    ".file 1 \"axpy.cu\"\n"
    ".visible .global .align 4 .u32 factor;\n"
    ".visible .entry _Z4axpyPji(.param .u64 memory, .param .u32 value) {\n"
    "  .reg .u64 %a, %i; .reg .u32 %t, %b, %n, %v, %x;\n"
    "  .loc 1 12 3\n"
    "  ld.param.u64 %a, [memory]; ld.param.u32 %v, [value];\n"
    "  mov.u32 %t, %tid.x; mov.u32 %b, %ctaid.x; mov.u32 %n, %ntid.x;\n"
    "  mad.lo.u32 %t, %b, %n, %t; mul.wide.u32 %i, %t, 4; add.u64 %a, %a, %i;\n"
    "  ld.global.u32 %x, [%a]; add.u32 %x, %x, %v; st.global.u32 [%a], %x;\n"
    "  ret;\n"
    "}\n"
    ".visible .entry nothing() { ret; }\n"
    ".visible .entry wild() {\n"
    "  .reg .u64 %a;\n"
    "  .loc 1 20 3\n"
    "  mov.u64 %a, 64; st.global.u64 [%a], %a; ret;\n"
    "}\n";

static void good(CUresult result, const char *call) {
    if (result != SUCCESS) {
        fprintf(stderr, "%s: %d\n", call, result);
        _exit(100);
    }
}
#define GOOD(call) good(call, #call)

// In nanoseconds.
static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1e9 + time.tv_nsec;
}

static void *later(void *unused) {
    usleep(100000);
    return unused;
}

// The main thread does nothing more before it waits.
static atomic_int is_about_to_wait;

// Returns some time after the main thread has begun to wait for it, asleep, or in that thread.
static void when_waited_for(void *process) {
    char path[64], state = 0;
    snprintf(path, sizeof path, "/proc/self/task/%d/stat", *(int *)process);
    // Before that, the thread may sleep for something else.
    while (syscall(SYS_gettid) != *(int *)process && !atomic_load(&is_about_to_wait)) usleep(1000);
    while (syscall(SYS_gettid) != *(int *)process && state != 'S') {
        usleep(1000);
        FILE *file = fopen(path, "r");
        if (!file || fscanf(file, "%*d (%*[^)]) %c", &state) != 1) _exit(103);
        fclose(file);
    }
    usleep(40000);
}

enum { BLOCKS = 4, THREADS = 64, COUNT = BLOCKS * THREADS };

int main(int count, char **arguments) {
    const char *end = count > 1 ? arguments[1] : "";
    // Whoever starts programs in the background has them ignore it.
    signal(SIGINT, SIG_DFL);
    unsigned numbers[COUNT] = {0}, factor = 3;
    CUcontext context;
    CUmodule module;
    CUfunction axpy, nothing, wild;
    CUstream stream;
    CUdeviceptr memory, global;
    size_t bytes;
    // As Gangway's runtime does it, which reports the kernels of its modules.
    const struct {
        size_t size;
        void (*runtime_reports)(void);
        void (*when_warps_wait)(void (*listener)(void *), void *context);
        void (*runtimes_module)(CUmodule);
    } *table = 0;
    int runtime = !strncmp(end, "runtime", 7);
    if (runtime) {
        GOOD(cuGetExportTable((const void **)&table, "gangway-runtime3"));
        if (strcmp(end, "runtime late")) table->runtime_reports();
    }
    GOOD(cuInit(0));
    if (!strcmp(end, "runtime late")) table->runtime_reports();
    GOOD(cuCtxCreate_v2(&context, 0, 0));
    GOOD(cuModuleLoadData(&module, IMAGE));
    if (runtime) table->runtimes_module(module);
    GOOD(cuModuleGetFunction(&axpy, module, "_Z4axpyPji"));
    GOOD(cuModuleGetFunction(&nothing, module, "nothing"));
    GOOD(cuModuleGetFunction(&wild, module, "wild"));
    GOOD(cuModuleGetGlobal_v2(&global, &bytes, module, "factor"));
    GOOD(cuMemAlloc_v2(&memory, sizeof numbers));
    GOOD(cuMemcpyHtoD_v2(memory, numbers, sizeof numbers));
    GOOD(cuMemcpyHtoD_v2(global, &factor, sizeof factor));
    GOOD(cuStreamCreate(&stream, 1));
    int value = 2;
    void *parameters[] = {&memory, &value};
    for (int i = 0; i < 3; i++)
        GOOD(cuLaunchKernel(axpy, BLOCKS, 1, 1, THREADS, 1, 1, 0, stream, parameters, 0));
    int process = getpid();
    if (!strcmp(end, "waits")) GOOD(cuLaunchHostFunc(stream, when_waited_for, &process));
    atomic_store(&is_about_to_wait, 1);
    double began = now();
    GOOD(cuStreamSynchronize(stream));
    if (!strcmp(end, "waits")) printf("%.0f\n", now() - began);
    GOOD(cuLaunchKernel(nothing, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0));
    GOOD(cuLaunchKernel(nothing, 2, 3, 1, 8, 1, 1, 0, 0, 0, 0));
    GOOD(cuCtxSynchronize());
    GOOD(cuMemcpyDtoH_v2(numbers, memory, sizeof numbers));
    if (numbers[COUNT - 1] != 6) return 101;
    if (runtime && strcmp(end, "runtime alone")) {
        CUmodule other;
        GOOD(cuModuleLoadData(&other, IMAGE));
        GOOD(cuModuleGetFunction(&axpy, other, "_Z4axpyPji"));
        GOOD(cuLaunchKernel(axpy, BLOCKS, 1, 1, THREADS, 1, 1, 0, stream, parameters, 0));
        GOOD(cuLaunchKernel(axpy, BLOCKS, 1, 1, THREADS, 1, 1, 0, stream, parameters, 0));
        GOOD(cuCtxSynchronize());
    }
    if (!strcmp(end, "leak")) return 0;
    if (strcmp(end, "fault")) GOOD(cuMemFree_v2(memory));
    if (!strcmp(end, "abort")) abort();
    if (!strcmp(end, "quick_exit")) quick_exit(7);
    if (!strcmp(end, "segv")) *(volatile int *)16 = 1;
    if (!strcmp(end, "int")) raise(SIGINT);
    if (!strcmp(end, "term")) kill(getpid(), SIGTERM);
    if (!strcmp(end, "pthread_exit")) {
        pthread_t thread;
        pthread_create(&thread, 0, later, 0);
        pthread_exit(0);
    }
    if (!strcmp(end, "fault")) {
        GOOD(cuLaunchKernel(wild, 1, 1, 1, 1, 1, 1, 0, stream, 0, 0));
        return cuStreamSynchronize(stream) == ILLEGAL_ADDRESS ? 9 : 102;
    }
    return 0;
}
