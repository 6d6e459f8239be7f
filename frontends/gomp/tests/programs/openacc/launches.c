/* Compute constructs with various clauses, for the lines that GOMP_DEBUG prints about launches. */
#include <stdio.h>

int main(void)
{
    int values[100] = {0};
#pragma acc parallel loop copy(values) num_gangs(4) num_workers(2) vector_length(32)
    for (int i = 0; i < 100; ++i)
        values[i] += i;
#pragma acc parallel loop copy(values)
    for (int i = 0; i < 100; ++i)
        values[i] += i;
#pragma acc serial copy(values)
    values[3] += 4;
#pragma acc parallel loop copy(values) num_gangs(3) async(2)
    for (int i = 0; i < 100; ++i)
        values[i] += i;
#pragma acc wait
    puts(values[3] == 13 && values[5] == 15 ? "passed" : "wrong");
}
