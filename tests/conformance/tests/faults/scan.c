// flags: -O2
// warned: compiles `scan` for GPUs
int main(void) {
  enum { N = 512 };
  static int a[N], inclusive[N];
  for (int i = 0; i < N; i++)
    a[i] = i * 7 % 13;
  int sum = 0;
#pragma omp target map(to : a) map(from : inclusive) map(tofrom : sum)
#pragma omp parallel for reduction(inscan, + : sum)
  for (int i = 0; i < N; i++) {
    sum += a[i];
#pragma omp scan inclusive(sum)
    inclusive[i] = sum;
  }
  int expected = 0;
  for (int i = 0; i < N; i++) {
    expected += a[i];
    if (inclusive[i] != expected)
      return 1;
  }
  return 0;
}
