template <int D> void f(int n, float *a) {
#pragma acc parallel loop gang(dim:D)
  for (int i = 0; i < n; i++) a[i] = 0;
}
void g(int n, float *a) { f<2>(n, a); }
