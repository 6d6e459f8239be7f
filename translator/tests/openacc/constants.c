/* Constant expressions in the place of numbers. */
enum { SECOND = 2, THIRD };
#define TWO (1 + 1)
void constants(int n, float *a) {
#pragma acc parallel loop gang(dim:SECOND)
  for (int i = 0; i < n; i++) a[i] = 0;
#pragma acc parallel loop gang(static:4, dim:THIRD) vector
  for (int i = 0; i < n; i++) a[i] = 0;
#pragma acc parallel loop collapse(TWO)
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) a[i * n + j] = 0;
#pragma acc parallel loop collapse(SECOND) gang vector
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) a[i * n + j] = 0;
#pragma acc parallel loop collapse(THIRD - 1) gang
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
#pragma acc loop vector
      for (int k = 0; k < n; k++) a[(i * n + j) * n + k] = 0;
}
void inside(int n, float *a) {
#pragma acc data copy(a[0:n])
  {
#pragma acc parallel
    {
#pragma acc loop gang(dim:SECOND)
      for (int i = 0; i < n; i++) a[i] = 0;
    }
#pragma acc parallel loop collapse(TWO) gang
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++)
#pragma acc loop vector
        for (int k = 0; k < n; k++) a[(i * n + j) * n + k] = 0;
  }
}
