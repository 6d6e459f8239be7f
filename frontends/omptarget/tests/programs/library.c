// What opens.c opens.
int twice(int x) {
#pragma omp target map(tofrom : x)
  x *= 2;
  return x;
}
