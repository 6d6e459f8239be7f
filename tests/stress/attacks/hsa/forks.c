// The process forks while its threads use queues. A child, which has none of the runtime's threads, gets an error or an end
// from every call, and ends; it never waits. The parent's threads notice nothing.
#include "sound.h"
#include <sys/wait.h>
#include <unistd.h>

static void *work(void *number) {
    Random random = random_of((uint64_t)number);
    Sound own = sound(code[0]);
    while (!stress_over()) {
        use(&own, &random);
        // Code and queues that come and go: a fork may meet any lock.
        if (one_in(&random, 4)) {
            hsa_executable_t executable = load(gpu);
            Sound short_lived = sound(executable);
            use(&short_lived, &random);
            put_away(&short_lived);
            OK(hsa_executable_destroy(executable));
        }
    }
    put_away(&own);
    return NULL;
}

// In a child: nothing works, and what ends something does.
static int refused(Sound *parents, Random *random) {
    hsa_queue_t *queue;
    hsa_signal_t signal;
    void *memory;
    hsa_executable_t executable;
    if (one_in(random, 2)) hsa_signal_wait_scacquire(parents->end, EQ, 77, UINT64_MAX, 0);
    if (one_in(random, 2)) hsa_queue_destroy(parents->queue);
    if (one_in(random, 2)) hsa_memory_free(parents->total);
    if (one_in(random, 2)) hsa_shut_down();
    return hsa_queue_create(gpu, 64, 0, ignore, NULL, 0, 0, &queue) != SUCCESS
           && hsa_signal_create(1, 0, NULL, &signal) != SUCCESS
           && hsa_memory_allocate(device_region, 64, &memory) != SUCCESS
           && hsa_executable_create_alt(1, 0, NULL, &executable) != SUCCESS && hsa_init() != SUCCESS;
}

int main(int argc, char **argv) {
    pthread_t threads[THREADS];
    begins(argc, argv);
    Random random = random_of(THREADS);
    Sound own = sound(code[0]);
    for (size_t i = 0; i < THREADS; i++) CHECK(pthread_create(&threads[i], NULL, work, (void *)i) == 0);
    while (!stress_over()) {
        int status, handlers = one_in(&random, 2);
        pid_t child = fork();
        CHECK(child >= 0);
        if (child == 0) {
            int fine = refused(&own, &random);
            // With the exit handlers of the libraries, and without.
            if (fine && handlers) exit(0);
            _exit(fine ? 0 : 3);
        }
        next(&random);
        CHECK(waitpid(child, &status, 0) == child);
        if (status != 0) fail("a child ends with status %#x", status);
        use(&own, &random);
    }
    for (size_t i = 0; i < THREADS; i++) CHECK(pthread_join(threads[i], NULL) == 0);
    put_away(&own);
    return ends();
}
