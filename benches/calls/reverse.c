/* How long a region of device(ancestor: 1) takes that device code reaches, there and back: reverse WAY, where
 * the way is `bare`, with a number that the host gets, or `data`, with eight bytes both ways. GCC 13 and newer
 * compile it, and `gangway cc`. */
#include "../programs/bench.h"

#include <omp.h>
#include <string.h>

#pragma omp requires reverse_offload

static long calls;

static void note(long number) { calls += number; }

static void bare(void *context, long count) {
#pragma omp target
  for (long i = 0; i < count; ++i) {
#pragma omp target device(ancestor : 1) firstprivate(i)
    note(i >= 0);
  }
  *(long *)context += count;
}

static void data(void *context, long count) {
  long number = 0;
#pragma omp target map(tofrom : number)
  for (long i = 0; i < count; ++i) {
#pragma omp target device(ancestor : 1) map(always, tofrom : number)
    {
      note(1);
      number += 2;
    }
    number -= 1;
  }
  require(number == count, "data of calls is wrong");
  *(long *)context += count;
}

int main(int argc, char **argv) {
  if (argc != 2)
    return fprintf(stderr, "usage: reverse bare|data\n"), 2;
  int on_host = 1;
#pragma omp target map(from : on_host)
  on_host = omp_is_initial_device();
  require(!on_host, "the regions run on the host");
  long expected = 0;
  measure(strcmp(argv[1], "data") ? bare : data, &expected);
  require(calls == expected, "the host has not run each region once");
  return 0;
}
