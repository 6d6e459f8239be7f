// One construct of each kind, for the profile.
int main(void) {
  int a[8] = {1}, b = 2;
#pragma omp target enter data map(to : a)
#pragma omp target map(tofrom : a, b)
  a[0] += b;
#pragma omp target update from(a)
#pragma omp target teams distribute parallel for map(tofrom : a)
  for (int i = 0; i < 8; ++i)
    a[i]++;
#pragma omp target exit data map(from : a)
  return a[0] != 4;
}
