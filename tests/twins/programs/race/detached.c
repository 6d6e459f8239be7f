// with: openmp
// A detached task is done when its event is fulfilled: the region that depends on it comes behind what the task has begun.
#include <omp.h>
#include <stdio.h>

int a[4000];

int main(void)
{
    int x = 0;
    omp_event_handle_t event;
#pragma omp target enter data map(to: a)
#pragma omp parallel num_threads(2)
#pragma omp single
    {
#pragma omp task detach(event) depend(out: x)
        {
#pragma omp taskgroup
#pragma omp target nowait
            for (int i = 0; i < 4000; i++) a[i] += i; // finds
        }
#pragma omp task
        omp_fulfill_event(event);
#ifdef WRONG
#pragma omp target nowait
#else
#pragma omp target nowait depend(in: x)
#endif
        for (int i = 0; i < 4000; i++) a[i] += 1; // finds
    }
#pragma omp target exit data map(from: a)
    printf("%d\n", a[3999]);
    return a[3999] != 4000;
}
