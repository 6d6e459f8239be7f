// Eight threads make nowait regions with dependences, detached tasks, task groups that are cancelled and nested parallel
// regions, and compare what comes out with what one thread would have computed.
// environment: OMP_CANCELLATION=true
#include "stress.h"
#include <omp.h>

enum { COUNT = 100 };

static void chains(int steps) {
    int x = 0, y = 0, values[COUNT], expected_x = 0, expected_y = 0;
    for (int i = 0; i < COUNT; i++) values[i] = i;
#pragma omp parallel num_threads(THREADS)
#pragma omp single
    {
        for (int k = 0; k < steps; k++) {
#pragma omp target map(tofrom : x) nowait depend(inout : x)
            x = x * 2 + 1;
#pragma omp target map(tofrom : y) nowait depend(inout : y) device(k % omp_get_num_devices())
            y += k;
#pragma omp task depend(inout : x) shared(x)
            x += 3;
        }
#pragma omp target enter data map(to : values) nowait depend(out : values)
#pragma omp target map(values) nowait depend(inout : values)
        for (int i = 0; i < COUNT; i++) values[i] *= 2;
#pragma omp target update from(values) nowait depend(inout : values)
#pragma omp target exit data map(release : values) nowait depend(inout : values)
        omp_event_handle_t event;
#pragma omp task detach(event) depend(inout : y) shared(y)
        {
#pragma omp target map(tofrom : y)
            y++;
            omp_fulfill_event(event);
        }
#pragma omp target map(tofrom : y) nowait depend(inout : y)
        y *= 2;
#pragma omp taskwait
    }
    for (int k = 0; k < steps; k++) {
        expected_x = (expected_x * 2 + 1) + 3;
        expected_y += k;
    }
    expected_y = (expected_y + 1) * 2;
    if (x != expected_x || y != expected_y) fail("%d steps: %d and %d, not %d and %d", steps, x, y, expected_x, expected_y);
    for (int i = 0; i < COUNT; i++)
        if (values[i] != 2 * i) fail("element %d is %d", i, values[i]);
}

static void cancelled(int tasks, int last) {
#pragma omp parallel num_threads(THREADS)
#pragma omp single
#pragma omp taskgroup
    for (int q = 0; q < tasks; q++) {
#pragma omp task
        {
            int z = q;
#pragma omp cancellation point taskgroup
#pragma omp target map(tofrom : z) nowait
            z++;
#pragma omp taskwait
            // A wait in a group that is cancelled may end early.
            if (z != q && z != q + 1) fail("task %d has %d", q, z);
            if (q == last) {
#pragma omp cancel taskgroup
            }
        }
    }
}

static void nested(int outer, int inner) {
    // How many threads there are at the inner level is for the runtime to say.
    long total = 0, members = 0;
#pragma omp parallel num_threads(outer) reduction(+ : total, members)
#pragma omp parallel num_threads(inner) reduction(+ : total, members)
    {
        int sum = 0;
        // Without teams, which libomp itself does not survive here.
#pragma omp target map(tofrom : sum)
        for (int i = 0; i < 1000; i++) sum += i;
        total += sum;
        members++;
    }
    if (members < outer || total != members * 499500) fail("%d times %d: %ld of %ld", outer, inner, total, members);
}

int main(int argc, char **argv) {
    stress_start(argc, argv);
    if (omp_get_num_devices() == 0) fail("there is no device");
    Random random = random_of(0);
    while (!stress_over()) {
        switch (below(&random, 3)) {
        case 0: chains(1 + (int)below(&random, 20)); break;
        case 1: cancelled(1 + (int)below(&random, 30), (int)below(&random, 30)); break;
        case 2: nested(1 + (int)below(&random, 4), 1 + (int)below(&random, 3)); break;
        }
        atomic_fetch_add(&stress_calls, 1);
    }
    stress_report();
    return 0;
}
