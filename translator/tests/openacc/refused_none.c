void f(int n) {
  int a[10], b[10];
#pragma acc data copy(b)
  {
#pragma acc parallel loop default(none)
    for (int i = 0; i < n; i++) b[i] = a[i];
  }
}
