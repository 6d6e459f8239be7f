/* Since GCC 14: memory of low latency on the device, which is a part of what each team shares. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#define CHECK(what) do { if (!(what)) { printf("%d: %s\n", __LINE__, #what); return 1; } } while (0)
#define DONE do { puts("passed"); return 0; } while (0)

#pragma omp begin declare target
static omp_allocator_handle_t allocator(int fallback)
{
    omp_alloctrait_t traits[] = {{omp_atk_access, omp_atv_cgroup}, {omp_atk_fallback, fallback}};
    return omp_init_allocator(omp_low_lat_mem_space, 2, traits);
}
static int *take(int count, omp_allocator_handle_t of) { return omp_alloc(count * sizeof(int), of); }
static void give(int *p, omp_allocator_handle_t of) { omp_free(p, of); }
#pragma omp end declare target

int main(void)
{
    int on = 0, wrong = 0, got = 0, beyond = 0, otherwise = 0;
    #pragma omp target map(from: on, wrong, got, beyond, otherwise)
    {
        on = !omp_is_initial_device();
        wrong = 0;
        omp_allocator_handle_t of = allocator(omp_atv_null_fb), or_else = allocator(omp_atv_default_mem_fb);
        int *p = take(256, of);
        int *q = omp_calloc(64, sizeof *q, of);
        got = p && q && p != q;
        for (int i = 0; got && i < 256; i++)
            p[i] = i * 3;
        for (int i = 0; got && i < 64; i++)
            wrong += q[i] != 0;
        p = omp_realloc(p, 512 * sizeof *p, of, of);
        got = got && p;
        for (int i = 0; got && i < 256; i++)
            wrong += p[i] != i * 3;
        give(p, of);
        give(q, of);
        /* The pool has 8 KiB. */
        p = take(4096, of);
        beyond = p != NULL;
        p = take(4096, or_else);
        otherwise = p != NULL;
        give(p, or_else);
    }
    CHECK(on && got && !wrong && !beyond && otherwise);
    int sums[8] = {0};
    #pragma omp target teams num_teams(8) map(from: sums)
    {
        int *p, sum = 0;
        omp_allocator_handle_t of;
        #pragma omp parallel
        #pragma omp single
        {
            of = allocator(omp_atv_null_fb);
            p = take(100, of);
        }
        #pragma omp parallel for
        for (int i = 0; i < 100; i++)
            p[i] = i + omp_get_team_num();
        for (int i = 0; i < 100; i++)
            sum += p[i];
        sums[omp_get_team_num()] = sum;
        #pragma omp parallel
        #pragma omp single
        give(p, of);
    }
    for (int team = 0; team < 8; team++)
        CHECK(sums[team] == 4950 + 100 * team);
    DONE;
}
