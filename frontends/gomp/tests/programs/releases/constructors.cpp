/* Since GCC 15: constructors of variables on the device. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#define CHECK(what) do { if (!(what)) { printf("%d: %s\n", __LINE__, #what); return 1; } } while (0)
#define DONE do { puts("passed"); return 0; } while (0)

struct counter {
    int value;
    counter(int v) : value(v + 1) {}
    ~counter() { value = -1; }
};
#pragma omp begin declare target
counter first(41);
counter more[2] = {counter(1), counter(2)};
static int computed = first.value * 2;
#pragma omp end declare target

int main()
{
    int got = 0, on = 0;
    #pragma omp target map(from: got, on)
    {
        got = first.value + more[0].value * 100 + more[1].value * 1000 + computed;
        on = !omp_is_initial_device();
    }
    CHECK(on && got == 42 + 200 + 3000 + 84);
    DONE;
}
