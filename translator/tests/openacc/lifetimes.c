/* What takes turns in shared memory, and what does not. */
void lifetimes(int n, float *a) {
#pragma acc parallel loop gang num_workers(4) vector_length(64)
  for (int i = 0; i < n; i++) {
    double sum = 0;
    {
      float first[64];
      first[0] = i;
#pragma acc loop vector
      for (int j = 0; j < 64; j++) first[j] = j;
    }
    {
      short second[100];
      char beside[3];
#pragma acc loop worker
      for (int j = 0; j < 4; j++) {
        int of_worker[8];
#pragma acc loop vector
        for (int k = 0; k < 8; k++) of_worker[k] = j + beside[j % 3];
        second[j] = of_worker[j];
      }
    }
#pragma acc loop worker vector reduction(+ : sum)
    for (int j = 0; j < n; j++) sum += a[j];
    a[i] = sum;
  }
}
#pragma acc routine worker
void routine(int n, float *a) {
  float lost[4] = {0};
#pragma acc loop vector
  for (int j = 0; j < n; j++) a[j] = lost[j & 3];
}
