// with: openmp
// A rectangle is copied asynchronously, and columns beside it are used meanwhile.
#include <omp.h>
#include <stdio.h>

int main(void)
{
    static int host[64][64];
    int device = omp_get_default_device(), me = omp_get_initial_device();
    int *p = omp_target_alloc(sizeof host, device);
#pragma omp target is_device_ptr(p)
    for (int i = 0; i < 64 * 64; i++) p[i] = i;
    size_t volume[] = { 64, 16 }, offset[] = { 0, 16 }, size[] = { 64, 64 };
    omp_target_memcpy_rect_async(host, p, sizeof(int), 2, volume, offset, offset, size, size, me, device, 0, NULL);
#ifdef WRONG
#pragma omp target nowait is_device_ptr(p)
    for (int i = 0; i < 64; i++) p[i * 64 + 20] = 0; // finds
#else
#pragma omp target nowait is_device_ptr(p)
    for (int i = 0; i < 64; i++) p[i * 64 + 40] = 0;
#endif
#pragma omp taskwait
    printf("%d\n", host[63][17]);
    omp_target_free(p, device);
    return 0;
}
