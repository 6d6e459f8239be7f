#define PARALLEL 1
void f(int x, int threads) {
#if 0
#pragma omp target device(ancestor: 1) map(mapper(m), to: x)
  ;
#endif
#ifdef PARALLEL
#pragma omp target device(ancestor: 1) map(tofrom: x)
#pragma omp parallel for num_threads(threads) reduction(+: x)
#endif
  for (int i = 0; i < 4; i++)
    x += i;
#ifdef PARALLEL
#pragma omp target device(ancestor: 0x1)
  {
#endif
    threads++;
#ifdef PARALLEL
  }
#endif
}
