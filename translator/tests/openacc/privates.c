/* Where variables are. */
void use(int *);
#pragma acc routine(use) seq
void privates(int n, int a[n]) {
  int listed[4], fixed;
#pragma acc parallel loop gang private(listed) copyout(a[0 : n])
  for (int i = 0; i < n; i++) {
    int in_register = i, addressed = i, small[8], large[100000];
    use(&addressed);
#pragma acc loop vector
    for (int j = 0; j < 8; j++) small[j] = large[j] = listed[j % 4] = in_register + addressed;
    a[i] = small[i % 8];
  }
#pragma acc parallel private(fixed)
  {
    fixed = 1;
#pragma acc loop worker
    for (int i = 0; i < n; i++) {
      static int stays;
      int of_worker[2] = {i, stays};
#pragma acc loop vector
      for (int j = 0; j < 2; j++) of_worker[j] += fixed;
    }
  }
}
