#pragma omp requires reverse_offload, unified_shared_memory
int twice(int);
void f(int n) {
  int x = n;
  const double half = 0.5;
#pragma omp target map(tofrom: x)
  {
#pragma omp target device(ancestor: 1) map(always, tofrom: x)
    x = twice(x) + (int)(n * half);
  }
}
