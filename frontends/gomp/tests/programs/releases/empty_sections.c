/* Since GCC 15: a section without elements of what is not mapped, at the beginning and the end of data. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#define CHECK(what) do { if (!(what)) { printf("%d: %s\n", __LINE__, #what); return 1; } } while (0)
#define DONE do { puts("passed"); return 0; } while (0)

struct rows { int **row; };

int main(void)
{
    int values[2] = {1, 2}, got = 0, on = 0;
    for (int count = 0; count <= 2; count += 2) {
        struct rows it = {malloc(3 * sizeof(int *))}, *rows = &it;
        for (int i = 0; i < 3; i++)
            rows->row[i] = values;
        int which = 1;
        #pragma omp target enter data map(rows[:1], rows->row[:3])
        #pragma omp target enter data map(rows->row[which][:count])
        #pragma omp target map(tofrom: got, on)
        {
            on += !omp_is_initial_device();
            if (count)
                got += rows->row[1][0] + 10 * rows->row[1][1];
        }
        #pragma omp target exit data map(rows->row[which][:count])
        #pragma omp target exit data map(rows[:1], rows->row[:3])
        CHECK(rows->row[0] == values && rows->row[1] == values);
        free(rows->row);
    }
    CHECK(on == 2 && got == 21);
    DONE;
}
