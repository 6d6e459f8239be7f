/* Since GCC 14: compute constructs of the calling thread. */
#include <openacc.h>
#include <stdio.h>
#include <stdlib.h>
#define CHECK(what) do { if (!(what)) { printf("%d: %s\n", __LINE__, #what); return 1; } } while (0)
#define DONE do { puts("passed"); return 0; } while (0)

int main(void)
{
    int x = 1, there = 0;
    #pragma acc parallel copy(x) self(1)
    x += 1;
    CHECK(x == 2);
    #pragma acc parallel copy(x) copyout(there) self(0)
    {
        x += 10;
        there = acc_on_device(acc_device_not_host);
    }
    CHECK(x == 12 && there);
    /* What is not mapped is the thread's own. */
    int *own = malloc(sizeof *own), device = 1;
    *own = 3;
    #pragma acc parallel copyout(device) self(own != NULL)
    {
        *own += 1;
        device = acc_on_device(acc_device_not_host);
    }
    CHECK(*own == 4 && !device);
    int present = 1;
    #pragma acc data copy(x) if(0)
    present = acc_is_present(&x, sizeof x);
    CHECK(!present);
    free(own);
    DONE;
}
