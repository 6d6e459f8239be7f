/* Since GCC 16: copies inside of device memory. */
#include <openacc.h>
#include <stdio.h>
#include <stdlib.h>
#define CHECK(what) do { if (!(what)) { printf("%d: %s\n", __LINE__, #what); return 1; } } while (0)
#define DONE do { puts("passed"); return 0; } while (0)

int main(void)
{
    int here[8] = {1, 2, 3, 4, 5, 6, 7, 8}, back[8] = {0};
    int *one = acc_malloc(sizeof here), *other = acc_malloc(sizeof here);
    acc_memcpy_to_device(one, here, sizeof here);
    acc_memcpy_device(other, one, sizeof here);
    acc_memcpy_from_device(back, other, sizeof back);
    CHECK(back[0] == 1 && back[7] == 8);
    acc_memcpy_device_async(one + 4, other, 4 * sizeof(int), 1);
    acc_memcpy_from_device_async(back, one, sizeof back, 1);
    acc_wait(1);
    CHECK(back[4] == 1 && back[7] == 4 && back[0] == 1);
    acc_free(one);
    acc_free(other);
    DONE;
}
