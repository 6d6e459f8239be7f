/* Which levels loops get. */
void levels(int n, float a[n]) {
#pragma acc parallel loop
  for (int i = 0; i < n; i++) a[i] = 0;
#pragma acc parallel loop
  for (int i = 0; i < n; i++)
#pragma acc loop
    for (int j = 0; j < n; j++) a[j] = i;
#pragma acc parallel loop
  for (int i = 0; i < n; i++)
#pragma acc loop
    for (int j = 0; j < n; j++)
#pragma acc loop
      for (int k = 0; k < n; k++) a[k] = i;
#pragma acc parallel loop gang
  for (int i = 0; i < n; i++)
#pragma acc loop vector
    for (int j = 0; j < n; j++) a[j] = i;
#pragma acc parallel loop seq
  for (int i = 0; i < n; i++)
#pragma acc loop
    for (int j = 0; j < n; j++) a[j] = i;
#pragma acc serial loop
  for (int i = 0; i < n; i++) a[i] = 0;
#pragma acc parallel loop device_type(host) gang device_type(nvidia) worker
  for (int i = 0; i < n; i++) a[i] = 0;
}
