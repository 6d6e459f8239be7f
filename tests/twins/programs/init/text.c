// with: openmp
// A text in a buffer that is longer: what is behind its end is not looked at.
#include <stdio.h>

static int length(const char *text)
{
    int n = 0;
    while (text[n]) n++; // finds
    return n;
}

int main(void)
{
    int sum = 0;
    char text[200][32];
#pragma omp target teams distribute parallel for map(alloc: text) map(tofrom: sum) reduction(+: sum)
    for (int i = 0; i < 200; i++) {
        int n = i % 20;
        for (int j = 0; j < n; j++) text[i][j] = 'a' + j;
#ifndef WRONG
        text[i][n] = 0;
#endif
        sum += length(text[i]);
    }
    printf("%d\n", sum > 0);
    return 0;
}
