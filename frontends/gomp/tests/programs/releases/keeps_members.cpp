/* Since GCC 14: pointers in mapped data to what is not mapped keep their values. */
#include <omp.h>
#include <stdint.h>
#include <stdio.h>
#define CHECK(what) do { if (!(what)) { printf("%d: %s\n", __LINE__, #what); return 1; } } while (0)

struct object {
    int *pointer;
    int *&reference;
    int count;

    int through_pointer()
    {
        int same = 0, on = 0;
        uintptr_t value = (uintptr_t) pointer;
        #pragma omp target map(from: same, on)
        {
            on = !omp_is_initial_device();
            same = (uintptr_t) pointer == value;
            for (int i = 0; !same && i < count; i++)
                pointer[i] += 7;
        }
        return on ? same : -1;
    }
    int through_reference()
    {
        int same = 0;
        uintptr_t value = (uintptr_t) reference;
        #pragma omp target map(from: same)
        {
            same = (uintptr_t) reference == value;
            for (int i = 0; !same && i < count; i++)
                reference[i] += 9;
        }
        return same;
    }
};

int main()
{
    int values[4] = {1, 2, 3, 4}, others[4] = {5, 6, 7, 8}, *other = others;
    object it = {values, other, 4};
    CHECK(it.through_pointer() == 1 && it.through_reference() == 1);
    int same[2];
    #pragma omp target data map(tofrom: values)
    same[0] = it.through_pointer(), same[1] = it.through_reference();
    CHECK(same[0] == 0 && same[1] == 1);
    CHECK(values[3] == 11 && others[3] == 8);
    #pragma omp target data map(tofrom: others)
    same[0] = it.through_pointer(), same[1] = it.through_reference();
    CHECK(same[0] == 1 && same[1] == 0);
    CHECK(values[3] == 11 && others[3] == 17 && it.pointer == values && other == others);
    puts("passed");
}
