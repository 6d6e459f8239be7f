// What the releases of clang pass differently: arguments of every kind, many of them, a reduction across
// teams, mappers, `nowait` tasks. Without headers: those of the C library are not for every release's GPU.
int printf(const char *, ...);

struct vector {
  int count;
  double *data;
};
#pragma omp declare mapper(struct vector v) map(v, v.data[0 : v.count])

#pragma omp declare target
int table[4] = {1, 2, 3, 4};
static int twice(int value) { return 2 * value; }
#pragma omp end declare target

int main(void) {
  double x[1000], sum = 0;
  int squares[64], first = 7;
  for (int i = 0; i < 1000; ++i)
    x[i] = i;

  // Nine arguments of several kinds.
  char a = 1;
  short b = 2;
  int c = 3;
  long d = 4;
  float e = 5;
  double f = 6, out = 0;
#pragma omp target map(from : out) firstprivate(first)
  out = a + b + c + d + e + f + first;
  printf("%g\n", out);

#pragma omp target teams distribute parallel for num_teams(20) thread_limit(64) reduction(+ : sum) map(to : x)
  for (int i = 0; i < 1000; ++i)
    sum += x[i];
  printf("%g\n", sum);

  struct vector v = {1000, x};
#pragma omp target map(mapper(default), tofrom : v)
  for (int i = 0; i < v.count; ++i)
    v.data[i] += table[i % 4];
  printf("%g %g\n", x[0], x[999]);

#pragma omp parallel
#pragma omp single
  {
#pragma omp target teams distribute parallel for nowait depend(out : squares) map(from : squares)
    for (int i = 0; i < 64; ++i)
      squares[i] = i * i;
#pragma omp target nowait depend(inout : squares) map(tofrom : squares)
    squares[63] = twice(squares[63]);
#pragma omp taskwait
  }
  printf("%d %d\n", squares[8], squares[63]);

  int *p = squares;
#pragma omp target data map(squares) use_device_ptr(p)
#pragma omp target is_device_ptr(p)
  p[1] = 11;
#pragma omp target update to(table)
  printf("%d\n", squares[1]);
  return 0;
}
