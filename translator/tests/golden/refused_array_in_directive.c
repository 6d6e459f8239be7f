void f(void) {
  int a[4] = {0};
#pragma omp target device(ancestor: 1) map(tofrom: a)
#pragma omp parallel for reduction(+: a)
  for (int i = 0; i < 4; i++)
    a[i] += 1;
}
