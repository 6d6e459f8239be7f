// Two threads begin to use the driver. One does so in the constructor of a library, so that it has the loader's lock:
// it may not wait for the other, which may have to wait for that lock.
#include "kernels.h"
#include <dlfcn.h>
#include <pthread.h>
#include <unistd.h>

static pthread_t other;

static void *begin(void *unused) {
    CHECK(cuInit(0) == SUCCESS);
    return unused;
}

void begin_in_another_thread(void) { CHECK(pthread_create(&other, NULL, begin, NULL) == 0); }

int main(int argc, char **argv) {
    char library[4096];
    CHECK(argc == 1 && snprintf(library, sizeof library, "%s.so", argv[0]) < (int)sizeof library);
    // A hang ends the test by a signal.
    alarm(60);
    if (!dlopen(library, RTLD_NOW)) {
        fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    CHECK(pthread_join(other, NULL) == 0);
    return 0;
}
