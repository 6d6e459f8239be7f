/* Since GCC 15: destructors of variables on the device, before those of the host's. */
#include <omp.h>
#include <stdio.h>

#pragma omp begin declare target
static const char *text(bool on_host) { return on_host ? "" : "passed\n"; }
struct noisy {
    int value;
    noisy(int v) : value(v) {}
    ~noisy() { printf("%s", text(omp_is_initial_device())); }
};
noisy variable(4);
#pragma omp end declare target

int main()
{
    int got = 0;
    #pragma omp target map(from: got)
    got = variable.value;
    return got == 4 ? 0 : 1;
}
