/* Since GCC 14: references to variables and pointers. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#define CHECK(what) do { if (!(what)) { printf("%d: %s\n", __LINE__, #what); return 1; } } while (0)
#define DONE do { puts("passed"); return 0; } while (0)

struct holder { int &one; int *many; };

int main()
{
    int x = 1, *array = new int[4]{1, 2, 3, 4};
    int *&alias = array;
    int &same = x;
    #pragma omp target map(tofrom: same, alias[0:4])
    {
        same += alias[3];
        alias[0] = 9;
    }
    CHECK(x == 5 && array[0] == 9);
    holder h{x, array};
    #pragma omp target map(to: h) map(tofrom: h.many[0:4]) map(tofrom: h.one)
    h.many[1] = h.one * 2;
    CHECK(array[1] == 10);
    delete[] array;
    DONE;
}
