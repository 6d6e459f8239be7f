/* Structures and pointers of structures that come and go in any order, some thousand times: prints
 * what is present and attached after each step, which any runtime has alike. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

enum { LENGTH = 16, STEPS = 4000, MOST = 4 };

static struct structure {
  double a, b, c;
  double *p, *q;
} s, t;

static unsigned long state = 1;

static int random_below(int limit) {
  state = state * 6364136223846793005ul + 1442695040888963407ul;
  return (int)(state >> 33) % limit;
}

static int present(const void *address) { return omp_target_is_present(address, omp_get_default_device()); }

/* What the device's pointer holds: nothing that is known, the host's value, or what the device has there. */
static int pointer(double **which) {
  double *there = NULL, *pointee = *which, **on_device = which;
  if (!present(which))
    return 9;
#pragma omp target data use_device_ptr(on_device)
  omp_target_memcpy(&there, on_device, sizeof there, 0, 0, omp_get_initial_device(), omp_get_default_device());
  if (there == *which)
    return 1;
  if (!present(pointee))
    return 0;
#pragma omp target data use_device_ptr(pointee)
  on_device = (double **)pointee;
  return there == (double *)on_device ? 2 : 0;
}

static int attached(struct structure *which) { return 10 * pointer(&which->p) + pointer(&which->q); }

int main(void) {
  struct structure *both[] = {&s, &t};
  for (int index = 0; index < 2; ++index) {
    both[index]->p = calloc(LENGTH, sizeof(double));
    both[index]->q = calloc(LENGTH, sizeof(double));
  }
  /* The device has all of this one throughout. */
#pragma omp target enter data map(to : s)
  int members = 0, p = 0, q = 0, pairs = 0, first = 0;
  for (int step = 0; step < STEPS; ++step) {
    switch (random_below(14)) {
    case 0:
      if (members == MOST) continue;
#pragma omp target enter data map(to : s.a, s.c)
      ++members;
      break;
    case 1:
      if (members == 0) continue;
#pragma omp target exit data map(from : s.a, s.c)
      --members;
      break;
    case 2:
      if (p == MOST) continue;
#pragma omp target enter data map(to : s.p[0 : LENGTH])
      ++p;
      break;
    case 3:
      if (p == 0) continue;
#pragma omp target exit data map(from : s.p[0 : LENGTH])
      --p;
      break;
    case 4:
      if (p == MOST || q == MOST) continue;
#pragma omp target enter data map(to : s.p[0 : LENGTH], s.q[0 : LENGTH])
      ++p, ++q;
      break;
    case 5:
      if (p == 0 || q == 0) continue;
#pragma omp target exit data map(release : s.p[0 : LENGTH], s.q[0 : LENGTH])
      --p, --q;
      break;
    case 6:
      if (pairs == MOST) continue;
      if (first != 0 && pairs == 0) continue;
#pragma omp target enter data map(to : t.p, t.q, t.p[0 : LENGTH], t.q[0 : LENGTH])
      ++pairs;
      break;
    case 7:
      if (pairs == 0) continue;
#pragma omp target exit data map(from : t.p, t.q, t.p[0 : LENGTH], t.q[0 : LENGTH])
      --pairs;
      break;
    case 8:
      if (pairs == 0 || first == MOST) continue;
#pragma omp target enter data map(to : t.p, t.p[0 : LENGTH])
      ++first;
      break;
    case 9:
      if (first == 0) continue;
#pragma omp target exit data map(from : t.p, t.p[0 : LENGTH])
      --first;
      break;
    case 10:
#pragma omp target data map(tofrom : s.p[0 : LENGTH])
      printf("(%d)", attached(&s));
      break;
    case 11:
#pragma omp target data map(to : s.q[0 : LENGTH], s.b)
#pragma omp target data map(to : s.p[0 : LENGTH], s.q[0 : LENGTH])
      printf("[%d]", attached(&s));
      break;
    case 12:
      if (pairs == 0) continue;
#pragma omp target data map(tofrom : t.p[0 : LENGTH])
      printf("{%d}", attached(&t));
      break;
    default:
      if (q != 1) continue;
#pragma omp target exit data map(delete : s.q[0 : LENGTH])
      q = 0;
      break;
    }
    printf("%d%d%d %02d %d%d%d %02d\n", present(&s), present(s.p), present(s.q), attached(&s), present(&t.p),
           present(t.p), present(t.q), attached(&t));
  }
  return 0;
}
