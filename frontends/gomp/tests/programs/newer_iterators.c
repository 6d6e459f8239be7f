/* Items with iterators as GCC 16 passes them: GCC 12 compiles the program, which calls the functions
   itself. */
#include "check.h"
#include <omp.h>
#include <stddef.h>
#include <stdint.h>

enum { TO = 1, FROM = 2, EXIT_DATA = 2, ROWS = 4 };

extern void GOMP_target_enter_exit_data(int, size_t, void **, size_t *, unsigned short *, unsigned, void **);
extern void GOMP_target_update_ext(int, size_t, void **, size_t *, unsigned short *, unsigned, void **);

static void rows_of(uintptr_t *list, int (*rows)[8])
{
    *list++ = ROWS;
    for (int i = 0; i < ROWS; i++) {
        *list++ = (uintptr_t) rows[2 * i];
        *list++ = sizeof rows[0];
    }
}

int main(void)
{
    static int rows[2 * ROWS][8];
    uintptr_t list[1 + 2 * ROWS];
    rows_of(list, rows);
    for (int i = 0; i < 8; i++)
        rows[2][i] = i;
    int other = 5;
    void *hosts[2] = {list, &other};
    size_t sizes[2] = {SIZE_MAX, sizeof other};
    unsigned short to[2] = {TO | 3 << 8, TO | 2 << 8}, from[2] = {FROM | 3 << 8, FROM | 2 << 8};
    GOMP_target_enter_exit_data(-1, 2, hosts, sizes, to, 0, NULL);
    CHECK(hosts[0] == list && hosts[1] == &other);
    for (int i = 0; i < 2 * ROWS; i++)
        CHECK(!!omp_target_is_present(rows[i], 0) == (i % 2 == 0));
    CHECK(omp_target_is_present(&other, 0));

    int *row = rows[2], sum = 0;
    #pragma omp target map(tofrom: sum, other)
    for (int i = 0; i < 8; i++)
        sum += row[i]++;
    CHECK(sum == 28 && rows[2][7] == 7);
    GOMP_target_update_ext(-1, 2, hosts, sizes, from, 0, NULL);
    CHECK(rows[2][7] == 8);
    rows[2][0] = 100;
    GOMP_target_enter_exit_data(-1, 2, hosts, sizes, from, EXIT_DATA, NULL);
    CHECK(rows[2][0] == 1 && !omp_target_is_present(rows[2], 0) && !omp_target_is_present(&other, 0));
    puts("passed");
}
