// covers: target device(ancestor: 1) before pragmas, in conditional parts, with macros, `__func__` and values of large alignment
// stock: unusable because reverse offload is not in it
// translated: yes
#include <stdio.h>
#include <stdint.h>

#pragma omp requires reverse_offload

#define PARALLEL 1
#define SHOW(v) printf(#v " = %d\n", (v))

typedef float lanes __attribute__((vector_size(32)));
struct line {
  _Alignas(128) double d[16];
};

static int is_aligned(const volatile void *p, uintptr_t to) { return (uintptr_t)p % to == 0; }

static void named(void) {
#pragma omp target
#pragma omp target device(ancestor : 1)
  printf("%s %s\n", __func__, __FUNCTION__);
}

int main(void) {
  int x = 1, threads = 2, sum = 0, list[2] = {3, 4};
  named();
#pragma omp target map(tofrom : x, sum, list)
  {
#ifdef MISSING
#pragma omp target device(ancestor : 1) of_another_compiler(1)
    x = 100;
#endif
#ifdef PARALLEL
#pragma omp target device(ancestor : 1) map(always, tofrom : x)
#pragma omp parallel num_threads(threads)
#else
#pragma omp masked
#endif
    {
#pragma omp atomic
      x += 1;
    }
#ifdef PARALLEL
#pragma omp target device(ancestor : 1) map(always, tofrom : sum)
    {
#endif
      _Pragma("omp parallel for num_threads(threads) reduction(+ : sum) schedule(static, threads)")
      for (int i = 0; i < 4; i++)
        sum += i;
#ifdef PARALLEL
    }
#endif
#pragma omp target device(ancestor : 1)
    SHOW(list[1]);
  }
  printf("%d %d\n", x, sum);
  lanes v = {1, 2, 3, 4, 5, 6, 7, 8};
  struct line l = {{1, 2, 3, 4}};
  double result = 0;
#pragma omp target map(tofrom : result) firstprivate(v, l)
  {
    // The host knows no type of what it makes room for.
    double own[32] = {0};
    own[2] = 3;
#pragma omp target device(ancestor : 1) map(always, tofrom : result) firstprivate(v, l) map(tofrom : own)
    {
      result = v[7] + l.d[3] + own[2];
      printf("aligned %d %d %d\n", is_aligned(&v, 32), is_aligned(&l, 128), is_aligned(own, 128));
    }
  }
  printf("%g\n", result);
  return 0;
}
