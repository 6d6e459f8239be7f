/* Since GCC 13: parts of arrays copied in tasks. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#define CHECK(what) do { if (!(what)) { printf("%d: %s\n", __LINE__, #what); return 1; } } while (0)
#define DONE do { puts("passed"); return 0; } while (0)

int main(void)
{
    int device = omp_get_default_device(), host = omp_get_initial_device();
    int a[6][8], b[4][4] = {{0}};
    for (int i = 0; i < 48; i++)
        a[i / 8][i % 8] = i;
    int *there = omp_target_alloc(sizeof a, device);
    CHECK(omp_target_memcpy(there, a, sizeof a, 0, 0, device, host) == 0);
    size_t volume[2] = {3, 2}, to[2] = {1, 1}, from[2] = {2, 3}, room[2] = {4, 4}, size[2] = {6, 8};
    int wrong = 0;
    #pragma omp parallel num_threads(2)
    #pragma omp single
    {
        wrong = omp_target_memcpy_rect_async(b, there, sizeof(int), 2, volume, to, from, room, size, host,
                                             device, 0, NULL);
        #pragma omp taskwait
    }
    CHECK(!wrong);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 2; j++)
            CHECK(b[1 + i][1 + j] == a[2 + i][3 + j]);
    CHECK(b[0][0] == 0 && b[1][0] == 0 && b[1][3] == 0);
    CHECK(omp_target_memcpy_rect_async(NULL, NULL, 4, 2, volume, to, from, room, size, host, device, 0, NULL) > 2);
    omp_target_free(there, device);
    DONE;
}
