/* Since GCC 15: lambdas and data of containers. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#define CHECK(what) do { if (!(what)) { printf("%d: %s\n", __LINE__, #what); return 1; } } while (0)
#define DONE do { puts("passed"); return 0; } while (0)

#include <vector>

template <typename F> static void apply(int *data, int n, F f)
{
    #pragma omp target teams distribute parallel for map(tofrom: data[0:n])
    for (int i = 0; i < n; i++)
        data[i] = f(data[i]);
}

int main()
{
    std::vector<int> v(50);
    for (int i = 0; i < 50; i++)
        v[i] = i;
    int factor = 3;
    apply(v.data(), 50, [=](int x) { return x * factor + 1; });
    for (int i = 0; i < 50; i++)
        CHECK(v[i] == i * 3 + 1);
    DONE;
}
