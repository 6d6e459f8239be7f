/* Pointers of a structure that are only attached, which GCC 14 hands on as members without bytes: GCC 12
   compiles the program, which calls the function itself. Nothing of the structure becomes
   present; with libgomp 14 it cannot become so later. */
#include "check.h"
#include <omp.h>
#include <stddef.h>

enum { ALLOC = 0, TO = 1, RELEASE = 23, STRUCT = 28, ATTACH = 80, DETACH = 81, EXIT_DATA = 2, LENGTH = 16 };

extern void GOMP_target_enter_exit_data(int, size_t, void **, size_t *, unsigned short *, unsigned, void **);

static struct structure {
    double a, b, *p, *q;
} s;

/* map(to: s.p[:LENGTH], s.q[:LENGTH]), or what undoes it */
static void sections(int data, int attach, unsigned flags)
{
    void *hosts[] = {&s, &s.p, &s.q, s.p, &s.p, s.q, &s.q};
    size_t sizes[] = {2, 0, 0, LENGTH * sizeof *s.p, 0, LENGTH * sizeof *s.q, 0};
    unsigned short member = flags ? RELEASE : ALLOC;
    unsigned short kinds[] = {STRUCT | 3 << 8, member | 3 << 8, member | 3 << 8, data | 3 << 8, attach | 3 << 8,
                              data | 3 << 8, attach | 3 << 8};
    GOMP_target_enter_exit_data(-1, 7, hosts, sizes, kinds, flags, NULL);
}

static int present(const void *address)
{
    return omp_target_is_present(address, omp_get_default_device());
}

static double through_pointers(void)
{
    double sum = 0;
#pragma omp target map(alloc : s) map(from : sum)
    sum = s.p[1] + s.q[1];
    return sum;
}

int main(void)
{
    double p[LENGTH] = {0, 1}, q[LENGTH] = {0, 2};
    s.p = p, s.q = q;
    sections(TO, ATTACH, 0);
    CHECK(present(p) && present(q) && !present(&s.p) && !present(&s.q));
    /* All of it can come later, and its pointers be attached then. */
#pragma omp target enter data map(to : s)
    sections(TO, ATTACH, 0);
    CHECK(present(&s.p) && present(&s.a) && through_pointers() == 3);
    sections(RELEASE, DETACH, EXIT_DATA);
    CHECK(present(p) && present(q) && present(&s));
#pragma omp target exit data map(delete : s, p, q)
    CHECK(!present(p) && !present(q) && !present(&s));
    puts("passed");
}
