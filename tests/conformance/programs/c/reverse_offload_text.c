// covers: the spellings of target device(ancestor: 1): headers, _Pragma, macros, spliced lines, and names that are used twice
// stock: unusable because reverse offload is not in it
// translated: yes
#include "../support/reverse_log.h"

_Pragma("omp requires reverse_offload")

#define ADD(to, what) ((to) += (what))
#define BUMP counter[1]++
/* #pragma omp target device(ancestor: 1) */
static const char *text = "#pragma omp target device(ancestor: 1)";

struct pair {
  int first, x;
};

static int spellings(int n) {
  int x = n, counter[2] = {0, 0};
  struct pair pair = {1, 2};
#pragma omp target map(tofrom : x, counter, pair)
  {
    if (x > 0)
      _Pragma("omp target device(ancestor: 1) map(always, tofrom: x, pair)") { ADD(x, pair.x); }
    else
      x = 1000;
#pragma omp tar\
get device(ances\
tor : 1) /* a, comment */ map(always, tofrom : x, /* another */ counter) // and one
    for (int i = 0; i < 3; i++) {
      struct pair x_of = {.x = x};
      BUMP;
      counter[0] += x_of.x;
    }
#ifdef NOT_DEFINED
#pragma omp target map(x)
#endif
#pragma omp target device(ancestor : 1) map(always, tofrom : x)
    x++;
  }
  printf("%d %d %d\n", x, counter[0], counter[1]);
  return x;
}

int main(void) {
  int x = spellings(5);
#pragma omp target
  {
    log_value(x);
    log_value(-1);
  }
  printf("line %d of %s: %s\n", __LINE__, &__FILE__[sizeof __FILE__ - sizeof "reverse_offload_text.c"], text);
  return 0;
}
