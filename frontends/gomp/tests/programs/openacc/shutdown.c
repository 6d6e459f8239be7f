/* OpenACC 3.3 section 3.2.8: acc_shutdown waits for what is under way and gives data and queues
   back, and acc_init starts the device again. */
#include "../check.h"
#include <openacc.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { N = 1 << 20, QUEUES = 8 };

static int table[4] = {1, 2, 3, 4};
#pragma acc declare create(table)

static float *numbers(void)
{
    float *made = malloc(N * sizeof *made);
    for (int i = 0; i < N; ++i)
        made[i] = i % 1000;
    return made;
}

static void use(float *a)
{
    for (int queue = 0; queue < QUEUES; ++queue) {
        int begin = N / QUEUES * queue;
#pragma acc parallel loop copy(a[begin:N / QUEUES]) async(queue)
        for (int i = begin; i < begin + N / QUEUES; ++i)
            a[i] += 1;
    }
}

static int is_right(const float *a, float added)
{
    for (int i = 0; i < N; ++i)
        if (a[i] != i % 1000 + added)
            return 0;
    return 1;
}

static size_t free_memory(void)
{
    return acc_get_property(0, acc_device_nvidia, acc_property_free_memory);
}

static void *other(void *a)
{
    use(a);
    acc_wait_all();
    return NULL;
}

int main(int argc, char **argv)
{
    const char *mistake = argc > 1 ? argv[1] : "";
    float *a = numbers(), *b = numbers(), *c = numbers();
    acc_init(acc_device_nvidia);
    if (!strcmp(mistake, "twice")) {
        acc_shutdown(acc_device_nvidia);
        acc_shutdown(acc_device_nvidia);
    }
    if (!strcmp(mistake, "inside")) {
#pragma acc data copyin(a[0:N])
        acc_shutdown(acc_device_nvidia);
    }

    size_t at_start = free_memory();
    for (int round = 0; round < 3; ++round) {
        /* Nobody waits: what is in the queues is done all the same. */
        use(a);
        acc_copyin(b, N * sizeof *b);
        acc_copyin(b, N * sizeof *b);
#pragma acc enter data create(c[0:N])
        CHECK(acc_is_present(b, N * sizeof *b) && acc_is_present(c, N * sizeof *c));
        acc_shutdown(acc_device_nvidia);
        CHECK(is_right(a, round + 1));

        acc_init(acc_device_nvidia);
        CHECK(!acc_is_present(b, N * sizeof *b) && !acc_is_present(c, N * sizeof *c));
        CHECK(acc_async_test_all());
        CHECK(free_memory() == at_start);
        /* A variable of the program's is there as before. */
        int sum = 0;
#pragma acc update device(table)
#pragma acc parallel loop reduction(+: sum) present(table)
        for (int i = 0; i < 4; ++i)
            sum += table[i];
        CHECK(sum == 10);
    }

    /* Threads that had the device before get it again. */
    pthread_t thread;
    pthread_create(&thread, NULL, other, a);
    pthread_join(thread, NULL);
    CHECK(is_right(a, 4));
    acc_shutdown(acc_device_nvidia);
    /* A construct starts it as well. */
    use(a);
#pragma acc wait
    CHECK(is_right(a, 5));
    puts("passed");
    free(a), free(b), free(c);
}
