// with: openmp
// Tasks of several threads are the first to use the device. Each maps, uses and deletes an array of its own, whose memory is used again.
#include <stdio.h>
#include <stdlib.h>

int main(void)
{
    int wrong = 0;
#pragma omp parallel num_threads(4)
#pragma omp single
    for (int task = 0; task < 12; task++) {
#pragma omp task firstprivate(task) shared(wrong)
        {
            int *a = malloc(4000 * sizeof *a), x = 0;
            for (int i = 0; i < 4000; i++) a[i] = task;
#pragma omp target enter data map(to: a[0:4000]) nowait depend(out: x)
#pragma omp target nowait depend(inout: x)
            for (int i = 0; i < 4000; i++) a[i] += i;
#ifdef WRONG
#pragma omp target nowait depend(in: x)
#else
#pragma omp target nowait depend(inout: x)
#endif
            for (int i = 0; i < 4000; i++) a[i] += 1; // finds
#ifdef WRONG
#pragma omp target nowait depend(in: x)
#else
#pragma omp target nowait depend(inout: x)
#endif
            for (int i = 0; i < 4000; i++) a[i] += 2; // finds
#pragma omp target update from(a[0:4000]) nowait depend(inout: x)
#pragma omp target exit data map(delete: a[0:4000]) nowait depend(inout: x)
#pragma omp taskwait
            if (a[3999] != 4002 + task) {
#pragma omp atomic
                wrong++;
            }
            free(a);
        }
    }
    printf("%d\n", wrong);
#ifdef WRONG
    return 0;
#else
    return wrong;
#endif
}
