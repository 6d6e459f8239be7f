// A shared library with device code and a device global, opened by the dlopen programs.
#pragma omp begin declare target
int library_calls = 0;
static int library_step(int x) {
  library_calls++;
  return 3 * x + library_calls;
}
#pragma omp end declare target

int library_run(int *values, int n) {
  int calls = 0;
#pragma omp target map(tofrom : values[0 : n]) map(from : calls)
  {
    for (int i = 0; i < n; i++) values[i] = library_step(values[i]);
    calls = library_calls;
  }
  return calls;
}

int library_sum(const int *values, int n) {
  int sum = 0;
#pragma omp target teams distribute parallel for reduction(+ : sum) map(to : values[0 : n])
  for (int i = 0; i < n; i++) sum += values[i];
  return sum;
}
