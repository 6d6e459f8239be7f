/* Gangs of several dimensions. */
#pragma acc routine gang(dim:2)
void plane(int n, float *a) {
#pragma acc loop gang(dim:2)
  for (int i = 0; i < n; i++)
#pragma acc loop
    for (int j = 0; j < n; j++) a[i * n + j] = 0;
}
void grids(int n, float *a) {
#pragma acc parallel num_gangs(2, 3, 4)
#pragma acc loop gang(dim:3)
  for (int i = 0; i < n; i++)
#pragma acc loop gang(dim:2)
    for (int j = 0; j < n; j++)
#pragma acc loop
      for (int k = 0; k < n; k++) a[(i * n + j) * n + k] = i;
#pragma acc parallel loop gang(dim:2) vector
  for (int i = 0; i < n; i++) a[i] = 0;
#pragma acc parallel loop gang(dim:3, static:4)
  for (int i = 0; i < n; i++) plane(n, a + i);
#pragma acc parallel loop
  for (int i = 0; i < n; i++)
#pragma acc loop gang(dim:1)
    for (int j = 0; j < n; j++)
#pragma acc loop
      for (int k = 0; k < n; k++) a[k] = i;
}
