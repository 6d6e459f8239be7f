/* What a block reads before its loop: elements that the loop's gangs may have changed by then, or nothing of the kind. */
void first_of_array(int n, unsigned *restrict a) {
#pragma acc kernels copy(a[0 : n])
  {
    int r = a[0];
    for (int i = 0; i < n; i++)
      a[i] = 1 + r;
  }
}

void first_by_pointer(int n, unsigned *restrict a) {
#pragma acc kernels copy(a[0 : n])
  {
    int r = *a;
    for (int i = 0; i < n; i++)
      a[i] = 1 + r;
  }
}

void scalar(int n, unsigned *restrict a, int first) {
#pragma acc kernels copy(a[0 : n])
  {
    int r = -first;
    for (int i = 0; i < n; i++)
      a[i] = 1 + r;
  }
}
