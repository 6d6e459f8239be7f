// covers: list items of one construct that share storage: what one is mapped for holds whichever gives up the last reference
// stock: differs because a copy back is lost if another list item takes the last reference
#include <stdio.h>

typedef struct {
  int a, b;
} pair;
#pragma omp declare mapper(first : pair p) map(tofrom : p.a)
#pragma omp declare mapper(second : pair p) map(tofrom : p.b)
typedef struct {
  pair in;
  int c;
} outer;

static void add(outer *o) {
#pragma omp target map(present, alloc : o[0 : 1])
  o->in.a += 10, o->in.b += 10, o->c += 10;
}

static void show(const char *what, const outer *o) { printf("%s: %d %d %d\n", what, o->in.a, o->in.b, o->c); }

int main(void) {
  outer o = {{1, 2}, 3};
#pragma omp target data map(tofrom : o) map(mapper(first), tofrom : o.in)
  add(&o);
  show("data", &o);
/* Here the compiler passes o.c and what the mapper names, so o.in.b is not mapped. */
#pragma omp target map(tofrom : o) map(mapper(first), tofrom : o.in)
  o.in.a += 10, o.in.b += 10, o.c += 10;
  show("region", &o);
#pragma omp target enter data map(to : o)
  add(&o);
#pragma omp target exit data map(from : o) map(mapper(second), from : o.in)
  show("exit data", &o);

  pair p = {1, 2};
#pragma omp target enter data map(to : p)
#pragma omp target map(present, alloc : p)
  p.a += 10, p.b += 10;
#pragma omp target exit data map(from : p) map(mapper(second), from : p)
  printf("mapper behind the whole: %d %d\n", p.a, p.b);
#pragma omp target enter data map(to : p)
#pragma omp target map(present, alloc : p)
  p.a += 10, p.b += 10;
#pragma omp target exit data map(mapper(first), from : p) map(from : p)
  printf("mapper before the whole: %d %d\n", p.a, p.b);

  /* Through pointers, so that the compiler does not join the items. */
  int x[8] = {0, 1, 2, 3, 4, 5, 6, 7}, *q = x, *r = x;
#pragma omp target enter data map(to : x)
#pragma omp target map(present, alloc : x)
  for (int i = 0; i < 8; i++)
    x[i] += 10;
#pragma omp target exit data map(from : q[0 : 8]) map(delete : r[0 : 8])
  printf("delete last: %d %d\n", x[0], x[7]);
#pragma omp target enter data map(to : x)
#pragma omp target map(present, alloc : x)
  for (int i = 0; i < 8; i++)
    x[i] += 10;
#pragma omp target exit data map(delete : q[0 : 8]) map(from : r[0 : 8])
  printf("delete first: %d %d\n", x[0], x[7]);
#pragma omp target enter data map(to : x)
#pragma omp target map(present, alloc : x)
  for (int i = 0; i < 8; i++)
    x[i] += 10;
#pragma omp target exit data map(from : q[0 : 4]) map(from : r[4 : 4])
  printf("two sections: %d %d %d %d\n", x[0], x[3], x[4], x[7]);
#pragma omp target data map(alloc : q[0 : 8]) map(to : r[0 : 8]) map(from : x)
#pragma omp target map(present, alloc : x)
  for (int i = 0; i < 8; i++)
    x[i] += 10;
  printf("alloc, to, from: %d %d\n", x[0], x[7]);
  return 0;
}
