/* Since GCC 14: functions called by their host addresses. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#define CHECK(what) do { if (!(what)) { printf("%d: %s\n", __LINE__, #what); return 1; } } while (0)
#define DONE do { puts("passed"); return 0; } while (0)

#pragma omp begin declare target indirect
int twice(int x) { return 2 * x; }
int thrice(int x) { return 3 * x; }
#pragma omp end declare target

int main(void)
{
    int (*table[2])(int) = {twice, thrice}, got[2] = {0};
    #pragma omp target map(to: table) map(from: got)
    for (int i = 0; i < 2; i++)
        got[i] = table[i](7);
    CHECK(got[0] == 14 && got[1] == 21);
    int sum = 0;
    #pragma omp target teams distribute parallel for map(to: table) map(tofrom: sum) reduction(+: sum)
    for (int i = 0; i < 100; i++)
        sum += table[i % 2](i);
    int expected = 0;
    for (int i = 0; i < 100; i++)
        expected += table[i % 2](i);
    CHECK(sum == expected);
    DONE;
}
