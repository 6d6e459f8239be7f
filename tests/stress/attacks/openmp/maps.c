// Eight threads map, unmap, update and run regions, in an order made by chance, on arrays of their own and on one that all
// share. A model says after each step what the host's copy holds and whether the array is present.
#include "stress.h"
#include <omp.h>
#include <pthread.h>

enum { ARRAYS = 6, COUNT = 512, SHARED = 4096 };

typedef struct {
    int *host, *expected, *device_expected;
    int references, device;
} Array;

static int shared[SHARED];

static void mapped(Array *array) {
    if (array->references++ == 0) memcpy(array->device_expected, array->expected, COUNT * sizeof(int));
}

static void unmapped(Array *array, int copies_back) {
    if (--array->references == 0 && copies_back)
        memcpy(array->expected, array->device_expected, COUNT * sizeof(int));
}

static void step(Random *random, Array *array) {
    int *h = array->host, present = array->references > 0, value = (int)below(random, 1 << 16);
    if (!present && one_in(random, 4)) array->device = (int)below(random, (uint32_t)omp_get_num_devices());
    int d = array->device, first = (int)below(random, COUNT), count = 1 + (int)below(random, (uint32_t)(COUNT - first));
    int *model = present ? array->device_expected : array->expected;
    switch (below(random, 15)) {
    case 0: case 1:;
#pragma omp target enter data map(to : h[0 : COUNT]) device(d)
        mapped(array);
        break;
    case 2:
        if (!present) break;
#pragma omp target exit data map(from : h[0 : COUNT]) device(d)
        unmapped(array, 1);
        break;
    case 3:
        if (!present) break;
#pragma omp target exit data map(release : h[0 : COUNT]) device(d)
        unmapped(array, 0);
        break;
    case 4:
        if (!present) break;
#pragma omp target exit data map(delete : h[0 : COUNT]) device(d)
        array->references = 0;
        break;
    case 5:;
#pragma omp target update to(h[first : count]) device(d)
        if (present) memcpy(array->device_expected + first, array->expected + first, (size_t)count * sizeof(int));
        break;
    case 6: case 7:;
#pragma omp target update from(h[first : count]) device(d)
        if (present) memcpy(array->expected + first, array->device_expected + first, (size_t)count * sizeof(int));
        break;
    case 8: case 9:
#pragma omp target map(tofrom : h[0 : COUNT]) device(d)
        for (int k = 0; k < COUNT; k++) h[k] = (h[k] ^ value) + k;
        for (int k = 0; k < COUNT; k++) model[k] = (model[k] ^ value) + k;
        break;
    case 10:
#pragma omp target teams distribute parallel for map(tofrom : h[0 : COUNT]) device(d)
        for (int k = 0; k < COUNT; k++) h[k] ^= value * k;
        for (int k = 0; k < COUNT; k++) model[k] ^= value * k;
        break;
    case 11:
#pragma omp target map(always, tofrom : h[0 : COUNT]) device(d)
        for (int k = 0; k < COUNT; k++) h[k] ^= value;
        for (int k = 0; k < COUNT; k++) array->expected[k] ^= value;
        if (present) memcpy(array->device_expected, array->expected, COUNT * sizeof(int));
        break;
    case 12: h[first] = array->expected[first] = value; break;
    case 13:
#pragma omp target data map(to : h[0 : COUNT]) device(d)
    {
        mapped(array);
#pragma omp target map(tofrom : h[0 : COUNT]) device(d)
        for (int k = 0; k < COUNT; k++) h[k] ^= value;
        for (int k = 0; k < COUNT; k++) array->device_expected[k] ^= value;
    }
        unmapped(array, 0);
        break;
    case 14: {
        long sum = 0;
#pragma omp target map(tofrom : sum) map(to : shared) device(d)
        for (int k = 0; k < SHARED; k++) sum += shared[k];
        if (sum != (long)SHARED * (SHARED - 1) / 2) fail("the shared array sums up to %ld", sum);
    }
    }
}

static void *work(void *number) {
    Random random = random_of((uint64_t)number);
    Array arrays[ARRAYS];
    for (int i = 0; i < ARRAYS; i++) {
        arrays[i] = (Array){malloc(COUNT * 4), malloc(COUNT * 4), calloc(COUNT, 4), 0, 0};
        for (int k = 0; k < COUNT; k++) arrays[i].host[k] = arrays[i].expected[k] = (int)below(&random, 1 << 16);
    }
    while (!stress_over()) {
        int which = (int)below(&random, ARRAYS);
        Array *array = &arrays[which];
        step(&random, array);
        for (int k = 0; k < COUNT; k++)
            if (array->host[k] != array->expected[k])
                fail("thread %ld, array %d: element %d is %d, not %d (%d references)", (long)number, which, k,
                     array->host[k], array->expected[k], array->references);
        if (omp_target_is_present(array->host, array->device) != (array->references > 0))
            fail("thread %ld, array %d: present and %d references", (long)number, which, array->references);
        atomic_fetch_add(&stress_calls, 1);
    }
    for (int i = 0; i < ARRAYS; i++) {
        int *h = arrays[i].host, d = arrays[i].device;
        if (arrays[i].references > 0) {
#pragma omp target exit data map(delete : h[0 : COUNT]) device(d)
        }
        free(h);
        free(arrays[i].expected);
        free(arrays[i].device_expected);
    }
    return NULL;
}

int main(int argc, char **argv) {
    pthread_t threads[THREADS];
    stress_start(argc, argv);
    if (omp_get_num_devices() == 0) fail("there is no device");
    for (int i = 0; i < SHARED; i++) shared[i] = i;
    for (size_t i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, work, (void *)i)) fail("no thread");
    for (size_t i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    stress_report();
    return 0;
}
