void f(int n, int *a) {
#pragma acc parallel loop collapse(2) copy(a[0 : n])
  for (int i = 0; i < n; i++)
    for (int j = 0; j < i; j++) a[i] = j;
}
