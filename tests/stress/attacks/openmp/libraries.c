// Eight threads open libraries with regions, run those, and close them, while others run regions of the program.
// What a library's variables hold on the device is new each time that all have closed it.
#include "stress.h"
#include <dlfcn.h>
#include <omp.h>
#include <pthread.h>

enum { COUNT = 100 };

// Whose turn it is: one thread at a time has a library, so that its counters are known.
static pthread_mutex_t locks[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};

static void with_library(int which) {
    static const char *const names[] = {"./libone.so", "./libtwo.so"};
    int values[COUNT];
    for (int i = 0; i < COUNT; i++) values[i] = i;
    pthread_mutex_lock(&locks[which]);
    void *library = dlopen(names[which], RTLD_NOW | RTLD_LOCAL);
    if (!library) fail("%s", dlerror());
    int (*work)(int *, int) = (int (*)(int *, int))dlsym(library, "work");
    if (!work) fail("%s", dlerror());
    for (int turn = 0; turn < 2; turn++) {
        int sum = work(values, COUNT), expected = which == 0 ? 4950 + 700 : 9900 + 300;
        expected += turn * COUNT;
        if (sum != expected) fail("%s, turn %d: %d, not %d", names[which], turn, sum, expected);
    }
    dlclose(library);
    pthread_mutex_unlock(&locks[which]);
}

static void *work(void *number) {
    Random random = random_of((uint64_t)number);
    while (!stress_over()) {
        if ((size_t)number < 2) {
            with_library((int)(size_t)number);
        } else if (one_in(&random, 20)) {
            with_library((int)below(&random, 2));
        } else {
            int value = (int)below(&random, 1000), sum = 0;
#pragma omp target map(tofrom : sum)
            for (int i = 0; i < 10; i++) sum += value + i;
            if (sum != 10 * value + 45) fail("a region gives %d for %d", sum, value);
        }
        atomic_fetch_add(&stress_calls, 1);
    }
    return NULL;
}

int main(int argc, char **argv) {
    pthread_t threads[THREADS];
    stress_start(argc, argv);
    for (size_t i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, work, (void *)i)) fail("no thread");
    for (size_t i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    stress_report();
    return 0;
}
