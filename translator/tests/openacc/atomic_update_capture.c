/* OpenACC 2.7 writes `update capture` where 3.3 writes `capture`. */
void count(int n, int *a) {
  int sum = 0;
#pragma acc parallel loop copy(sum) copyout(a[0 : n])
  for (int i = 0; i < n; i++) {
#pragma acc atomic update capture
    {
      a[i] = sum;
      sum += i;
    }
  }
}
