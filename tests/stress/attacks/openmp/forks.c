// The process forks while its threads run regions. A child runs a region of its own, or is told why it cannot; it never
// hangs, and the parent's threads notice nothing.
#include "stress.h"
#include <omp.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

static int sum_of(int count) {
    int sum = 0;
#pragma omp target map(tofrom : sum)
    for (int i = 0; i < count; i++) sum += i;
    return sum;
}

static void *work(void *number) {
    Random random = random_of((uint64_t)number);
    while (!stress_over()) {
        int count = (int)below(&random, 1000), sum = sum_of(count);
        if (sum != count * (count - 1) / 2) fail("thread %ld: %d for %d", (long)number, sum, count);
        atomic_fetch_add(&stress_calls, 1);
    }
    return NULL;
}

int main(int argc, char **argv) {
    pthread_t threads[THREADS];
    stress_start(argc, argv);
    if (sum_of(10) != 45) fail("the first region");
    for (size_t i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, work, (void *)i)) fail("no thread");
    while (!stress_over()) {
        int status;
        pid_t child = fork();
        if (child < 0) fail("no process");
        if (child == 0) {
            forget_dead_namesake();
            _exit(sum_of(1000) == 499500 ? 0 : 3);
        }
        waitpid(child, &status, 0);
        if (status != 0) fail("a child ends with status %#x", status);
        atomic_fetch_add(&stress_calls, 1);
    }
    for (size_t i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    stress_report();
    return 0;
}
