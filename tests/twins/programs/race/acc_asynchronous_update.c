// with: openacc gcc-openacc
// Arrays go back and forth in two queues that wait for each other.
#include <openacc.h>
#include <stdio.h>

int main(void)
{
    static int a[4000], b[4000];
#pragma acc enter data create(a, b)
    for (int i = 0; i < 4000; i++) a[i] = i;
#pragma acc update device(a) async(1)
#pragma acc parallel loop present(a, b) async(1)
    for (int i = 0; i < 4000; i++) b[i] = 2 * a[i]; // finds
#ifdef WRONG
#pragma acc update self(b) async(2)
#else
#pragma acc wait(1) async(2)
#pragma acc update self(b) async(2)
#endif
#pragma acc wait(2)
    int last = b[3999];
#pragma acc wait
#pragma acc exit data delete(a, b)
    printf("%d\n", last);
    return 0;
}
