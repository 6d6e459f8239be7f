void f(int n, int *out) {
  int a[10] = {0};
#pragma acc parallel loop reduction(+ : a[n : 2])
  for (int i = 0; i < 100; i++) a[n + i % 2] += 1;
  out[0] = a[n];
}
