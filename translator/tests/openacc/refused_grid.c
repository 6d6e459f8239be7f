/* Each gang of the other dimension would add all. */
void sum(int n, float *a) {
  float sum = 0;
#pragma acc parallel num_gangs(2, 3)
#pragma acc loop reduction(+ : sum)
  for (int i = 0; i < n; i++) sum += a[i];
  a[0] = sum;
}
