// Eight threads open the driver's library, look functions up in both ways that there are, call some, and close it, while
// others of them work. The library stays where it is, and every name leads to the same function each time.
#define _GNU_SOURCE
#include "kernels.h"
#include "stress.h"
#include <dlfcn.h>
#include <pthread.h>

CUresult cuDriverGetVersion(int *);
CUresult cuDeviceGetCount(int *);

static const char *const NAMES[] = {"cuInit", "cuCtxSynchronize", "cuMemAlloc_v2", "cuLaunchKernel", "cuGetProcAddress_v2",
                                    "cuStreamSynchronize_ptsz", "cuGraphLaunch", "cuNoSuchFunction"};
enum { COUNT = sizeof NAMES / sizeof *NAMES };
static _Atomic(void *) known[COUNT];

static void *work(void *number) {
    Random random = random_of((uint64_t)number);
    while (!stress_over()) {
        void *library = dlopen("libcuda.so.1", one_in(&random, 2) ? RTLD_NOW : RTLD_LAZY | RTLD_LOCAL);
        if (!library) fail("%s", dlerror());
        uint32_t which = below(&random, COUNT);
        void *found = dlsym(library, NAMES[which]), *before = NULL;
        if (!found != (which == COUNT - 1)) fail("%s is %p", NAMES[which], found);
        if (!atomic_compare_exchange_strong(&known[which], &before, found) && before != found)
            fail("%s was %p and is %p", NAMES[which], before, found);
        CUresult (*look_up)(const char *, void **, int, uint64_t, void *) =
            (CUresult(*)(const char *, void **, int, uint64_t, void *))dlsym(library, "cuGetProcAddress_v2");
        void *function = NULL;
        int version = 0, count = 0;
        if (!look_up || look_up("cuInit", &function, 12000, 0, NULL) != SUCCESS || !function) fail("cuInit is not found");
        OK(((CUresult(*)(unsigned))function)(0));
        OK(cuDriverGetVersion(&version));
        OK(cuDeviceGetCount(&count));
        if (version < 11000 || count < 1) fail("version %d, %d devices", version, count);
        if (one_in(&random, 4)) {
            CUcontext context;
            OK(cuCtxCreate_v2(&context, 0, 0));
            Kernels kernels = load_kernels();
            OK(launch(kernels.empty, 32, NULL, NULL));
            OK(cuCtxSynchronize());
            OK(cuCtxDestroy_v2(context));
        }
        if (dlclose(library)) fail("%s", dlerror());
        atomic_fetch_add(&stress_calls, 1);
    }
    return NULL;
}

int main(int argc, char **argv) {
    pthread_t threads[THREADS];
    stress_start(argc, argv);
    for (size_t i = 0; i < THREADS; i++) CHECK(pthread_create(&threads[i], NULL, work, (void *)i) == 0);
    for (size_t i = 0; i < THREADS; i++) CHECK(pthread_join(threads[i], NULL) == 0);
    stress_report();
    return 0;
}
