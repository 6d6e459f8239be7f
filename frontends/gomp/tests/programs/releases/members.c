/* Since GCC 14: members of members, and what their pointers lead to. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#define CHECK(what) do { if (!(what)) { printf("%d: %s\n", __LINE__, #what); return 1; } } while (0)
#define DONE do { puts("passed"); return 0; } while (0)

struct inner { int *values; int n; };
struct outer { struct inner in[2]; struct inner *more; };

int main(void)
{
    int a[4] = {1, 2, 3, 4}, b[4] = {5, 6, 7, 8}, sum = 0;
    struct inner third = {a, 4};
    struct outer outer = {{{a, 4}, {b, 4}}, &third};
    #pragma omp target map(tofrom: outer.in[1].values[0:4], sum)
    for (int i = 0; i < 4; i++)
        sum += outer.in[1].values[i]++;
    CHECK(sum == 26 && b[0] == 6);
    #pragma omp target map(to: outer.more) map(to: outer.more[0:1]) map(tofrom: outer.more[0].values[0:4], sum)
    for (int i = 0; i < 4; i++)
        sum += outer.more[0].values[i]++;
    CHECK(sum == 36 && a[3] == 5);
    DONE;
}
