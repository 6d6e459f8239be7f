// What `openmp/libraries` opens: a region and a variable of the device. Its constructor and destructor run regions, too,
// with the loader's lock in their hands.
#include "stress.h"

static int counter = 7;
#pragma omp declare target(counter)

static int runs;

static void run_once(const char *when) {
    int before = runs;
#pragma omp target map(tofrom : runs)
    runs++;
    if (runs != before + 1) fail("the region of the %s has not run", when);
}

__attribute__((constructor)) static void begin(void) { run_once("constructor"); }

__attribute__((destructor)) static void end(void) { run_once("destructor"); }

int work(int *values, int count);

int work(int *values, int count) {
    int sum = 0;
#pragma omp target teams distribute parallel for map(to : values[0 : count]) map(tofrom : sum) reduction(+ : sum)
    for (int i = 0; i < count; i++) sum += values[i] + counter;
#pragma omp target
    counter++;
    return sum;
}
