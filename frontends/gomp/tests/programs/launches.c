/* Regions with various clauses, for the lines that GOMP_DEBUG prints about their launches. None
   leaves the number of teams of a loop open: libgomp estimates it from registers, and Gangway asks
   the driver how many fit. */
#include <stdio.h>

int main(void)
{
    int values[100] = {0}, flag = 0;
#pragma omp target map(tofrom: values)
    values[3] = 4;
#pragma omp target teams distribute parallel for num_teams(4) thread_limit(64) map(tofrom: values)
    for (int i = 0; i < 100; ++i)
        values[i] += i;
#pragma omp target simd map(tofrom: values)
    for (int i = 0; i < 100; ++i)
        values[i] += i;
#pragma omp target teams num_teams(2) thread_limit(3)
    ;
#pragma omp target parallel num_threads(5) map(tofrom: flag) nowait
    flag = 1;
#pragma omp taskwait
    puts(values[3] == 10 && flag == 1 ? "passed" : "wrong");
}
