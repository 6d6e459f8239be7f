/* What a data construct costs whose data is present, and stays: present CASE. Prints the time of
 * an enter and an exit. */
#include "../programs/bench.h"

#include <omp.h>
#include <string.h>

enum { LENGTH = 64 };

static struct structure {
  double a, b, c;
  double *p, *q;
} s;
static double array[LENGTH], *pointer;

/* Enters and exits with the clause, `count` times. */
#define UNSTRUCTURED(name, clause)                                                                     \
  static void name(void *context, long count) {                                                       \
    (void)context;                                                                                     \
    for (long i = 0; i < count; ++i) {                                                                 \
      _Pragma(TEXT(omp target enter data map(to : clause)))                                            \
      _Pragma(TEXT(omp target exit data map(from : clause)))                                           \
    }                                                                                                  \
  }
#define STRUCTURED(name, clause)                                                                       \
  static void name(void *context, long count) {                                                       \
    (void)context;                                                                                     \
    for (long i = 0; i < count; ++i) {                                                                 \
      _Pragma(TEXT(omp target data map(tofrom : clause))) { }                                          \
    }                                                                                                  \
  }
#define TEXT(...) #__VA_ARGS__
#define COMMA ,

UNSTRUCTURED(enter_array, array)
UNSTRUCTURED(enter_section, pointer[0 : LENGTH])
UNSTRUCTURED(enter_member, s.a)
UNSTRUCTURED(enter_members, s.a COMMA s.b COMMA s.c)
UNSTRUCTURED(enter_pointer, s.p[0 : LENGTH])
UNSTRUCTURED(enter_pointers, s.p[0 : LENGTH] COMMA s.q[0 : LENGTH])
STRUCTURED(in_section, pointer[0 : LENGTH])
STRUCTURED(in_pointer, s.p[0 : LENGTH])

static const struct {
  const char *name;
  operation operate;
} cases[] = {
    {"array", enter_array},       {"section", enter_section},   {"member", enter_member},
    {"members", enter_members},   {"pointer", enter_pointer},   {"pointers", enter_pointers},
    {"in-section", in_section},   {"in-pointer", in_pointer},
};

int main(int argc, char **argv) {
  pointer = calloc(LENGTH, sizeof *pointer);
  s.p = calloc(LENGTH, sizeof *s.p);
  s.q = calloc(LENGTH, sizeof *s.q);
#pragma omp target enter data map(to : array, pointer[0 : LENGTH], s)
#pragma omp target enter data map(to : s.p[0 : LENGTH], s.q[0 : LENGTH])
  for (size_t index = 0; index < sizeof cases / sizeof *cases; ++index) {
    if (argc < 2 || strcmp(argv[1], cases[index].name) != 0)
      continue;
    measure(cases[index].operate, NULL);
    require(omp_target_is_present(&s.a, omp_get_default_device()), "a count went wrong");
    struct structure there;
    double *p = s.p, *q = s.q;
#pragma omp target data use_device_addr(s) use_device_ptr(p, q)
    {
      omp_target_memcpy(&there, &s, sizeof s, 0, 0, omp_get_initial_device(), omp_get_default_device());
      require(there.p == p && there.q == q, "a pointer is not attached");
    }
    return 0;
  }
  return fprintf(stderr, "usage: present array|section|member|...\n"), 2;
}
