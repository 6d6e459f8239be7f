enum { SECOND = 2 };
void f(int n, float *a) {
#pragma acc parallel loop gang(dim:SECOND)
  for (int i = 0; i < n; i++) a[i] = 0;
}
