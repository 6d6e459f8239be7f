/* Since GCC 13: reductions in a queue. */
#include <openacc.h>
#include <stdio.h>
#include <stdlib.h>
#define CHECK(what) do { if (!(what)) { printf("%d: %s\n", __LINE__, #what); return 1; } } while (0)
#define DONE do { puts("passed"); return 0; } while (0)

int main(void)
{
    int n = 1000, sum = 0, most = -1;
    int *a = malloc(n * sizeof(int));
    for (int i = 0; i < n; i++)
        a[i] = (i * 37) % 1001;
    #pragma acc parallel loop gang vector reduction(+: sum) reduction(max: most) copyin(a[0:n]) async(2)
    for (int i = 0; i < n; i++) {
        sum += a[i];
        most = a[i] > most ? a[i] : most;
    }
    #pragma acc wait(2)
    int expected = 0, high = -1;
    for (int i = 0; i < n; i++) {
        expected += a[i];
        high = a[i] > high ? a[i] : high;
    }
    CHECK(sum == expected && most == high);
    free(a);
    DONE;
}
