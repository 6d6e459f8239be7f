void f(int n, int *a) {
#pragma acc parallel copy(a[0 : n])
  {
    if (n > 3) goto out;
#pragma acc loop gang vector
    for (int i = 0; i < n; i++) a[i] = 0;
  out:;
  }
}
