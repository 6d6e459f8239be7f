// y = a * x + y on a device: the smallest program that is worth offloading.
//
//   gangway cc -O2 -g -fopenmp examples/saxpy.c -o saxpy
//   gangway run ./saxpy [ELEMENTS]
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
    long n = argc > 1 ? atol(argv[1]) : 1 << 20;
    if (n < 1) {
        fprintf(stderr, "usage: saxpy [ELEMENTS]\n");
        return 2;
    }
    float a = 2, *x = malloc(n * sizeof *x), *y = malloc(n * sizeof *y);
    if (x == NULL || y == NULL) {
        fprintf(stderr, "saxpy: no memory for %ld elements\n", n);
        return 1;
    }
    for (long i = 0; i < n; i++) x[i] = i % 1000, y[i] = 1;

    int on_host = 1;
#pragma omp target teams distribute parallel for map(to : x[:n]) map(tofrom : y[:n], on_host)
    for (long i = 0; i < n; i++) {
        y[i] += a * x[i];
        if (i == 0) on_host = omp_is_initial_device();
    }

    long wrong = 0;
    for (long i = 0; i < n; i++) wrong += y[i] != 2.0f * (i % 1000) + 1;
    printf("saxpy of %ld elements on %s: %ld wrong\n", n, on_host ? "the host" : "a device", wrong);
    free(x);
    free(y);
    return wrong != 0;
}
