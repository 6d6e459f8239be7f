// with: openmp
// An asynchronous copy is a task: what depends on it comes behind it.
#include <omp.h>
#include <stdio.h>

int in[4000], out[4000];

int main(void)
{
    int device = omp_get_default_device(), host = omp_get_initial_device();
    int *p = omp_target_alloc(sizeof in, device);
    for (int i = 0; i < 4000; i++) in[i] = i;
    omp_depend_t done;
#pragma omp depobj(done) depend(inout: in)
    omp_target_memcpy_async(p, in, sizeof in, 0, 0, device, host, 1, &done);
#ifdef WRONG
#pragma omp target nowait is_device_ptr(p)
#else
#pragma omp target nowait is_device_ptr(p) depend(inout: in)
#endif
    for (int i = 0; i < 4000; i++) p[i] += 1; // finds
    omp_target_memcpy_async(out, p, sizeof out, 0, 0, host, device, 1, &done);
#pragma omp taskwait
#pragma omp depobj(done) destroy
    omp_target_free(p, device);
    printf("%d\n", out[3999]);
#ifdef WRONG
    return 0;
#else
    return out[3999] != 4000;
#endif
}
