/* What mapping costs: mapping CASE. Prints the time of one operation: many objects that come
 * and go, and structures with many members. */
#include "../programs/bench.h"

#include <omp.h>
#include <string.h>

enum { OBJECTS = 10000, LENGTH = 8 };

static double *objects[OBJECTS];

static void map_objects(void *context, long count) {
  (void)context;
  for (long i = 0; i < count; ++i) {
    for (int index = 0; index < OBJECTS; ++index) {
      double *object = objects[index];
#pragma omp target enter data map(to : object[0 : LENGTH])
    }
    for (int index = 0; index < OBJECTS; ++index) {
      double *object = objects[index];
#pragma omp target exit data map(release : object[0 : LENGTH])
    }
  }
}

/* The device has all objects: each region finds one among them. */
static void find_objects(void *context, long count) {
  (void)context;
  for (long i = 0; i < count; ++i) {
    double *object = objects[i * 7919 % OBJECTS];
#pragma omp target map(tofrom : object[0 : LENGTH])
    object[0] += 1.0;
  }
}

static struct {
  double *a, *b, *c, *d, *e, *f, *g, *h, *k, *l, *m, *n, *o, *p, *q, *r;
} s;

static void map_members(void *context, long count) {
  (void)context;
  for (long i = 0; i < count; ++i) {
#pragma omp target data map(to : s.a[0 : LENGTH], s.b[0 : LENGTH], s.c[0 : LENGTH], s.d[0 : LENGTH], \
                                s.e[0 : LENGTH], s.f[0 : LENGTH], s.g[0 : LENGTH], s.h[0 : LENGTH],  \
                                s.k[0 : LENGTH], s.l[0 : LENGTH], s.m[0 : LENGTH], s.n[0 : LENGTH],  \
                                s.o[0 : LENGTH], s.p[0 : LENGTH], s.q[0 : LENGTH], s.r[0 : LENGTH])
    { }
  }
}

int main(int argc, char **argv) {
  const char *which = argc > 1 ? argv[1] : "";
  for (int index = 0; index < OBJECTS; ++index)
    objects[index] = calloc(LENGTH, sizeof *objects[index]);
#pragma omp target
  { }
  if (strcmp(which, "objects") == 0) {
    double samples[9];
    for (int pass = 0; pass < 9; ++pass)
      samples[pass] = batch_ns(map_objects, NULL, 1);
    print_samples(samples, 9);
  } else if (strcmp(which, "find") == 0) {
    for (int index = 0; index < OBJECTS; ++index) {
      double *object = objects[index];
#pragma omp target enter data map(to : object[0 : LENGTH])
    }
    measure(find_objects, NULL);
    require(omp_target_is_present(objects[OBJECTS / 2], omp_get_default_device()), "it is not mapped");
  } else if (strcmp(which, "members") == 0) {
    double **members[] = {&s.a, &s.b, &s.c, &s.d, &s.e, &s.f, &s.g, &s.h,
                          &s.k, &s.l, &s.m, &s.n, &s.o, &s.p, &s.q, &s.r};
    for (size_t index = 0; index < sizeof members / sizeof *members; ++index)
      *members[index] = objects[index];
    measure(map_members, NULL);
  } else {
    return fprintf(stderr, "usage: mapping objects|find|members\n"), 2;
  }
  require(!omp_target_is_present(&objects, omp_get_default_device()), "something else is mapped");
  return 0;
}
