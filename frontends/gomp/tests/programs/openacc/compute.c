/* Compute constructs: loops, reductions, private variables, dimensions, and the host. */
#include "../check.h"
#include <openacc.h>

enum { N = 10000 };

static void loops(void)
{
  static double a[N], b[N], c[N];
  for (int i = 0; i < N; ++i)
    a[i] = i, b[i] = 2 * i;
#pragma acc parallel loop copyin(a, b) copyout(c)
  for (int i = 0; i < N; ++i)
    c[i] = a[i] + b[i];
  for (int i = 0; i < N; ++i)
    CHECK(c[i] == 3 * i);
#pragma acc kernels copy(c)
  for (int i = 0; i < N; ++i)
    c[i] += 1;
  for (int i = 0; i < N; ++i)
    CHECK(c[i] == 3 * i + 1);
  int one = 0;
#pragma acc serial copy(one)
  one += 1;
  CHECK(one == 1);
}

static void reductions(void)
{
  long sum = 0;
  int largest = -1;
#pragma acc parallel loop gang worker vector reduction(+ : sum) reduction(max : largest)
  for (int i = 0; i < N; ++i) {
    sum += i;
    if (i % 777 > largest)
      largest = i % 777;
  }
  CHECK(sum == (long)N * (N - 1) / 2);
  CHECK(largest == 776);
}

static void nested(void)
{
  static int grid[64][65];
#pragma acc parallel loop gang num_gangs(16) num_workers(4) vector_length(32) copyout(grid)
  for (int i = 0; i < 64; ++i) {
    int row = i * 100;
#pragma acc loop worker vector
    for (int j = 0; j < 65; ++j)
      grid[i][j] = row + j;
  }
  for (int i = 0; i < 64; ++i)
    for (int j = 0; j < 65; ++j)
      CHECK(grid[i][j] == i * 100 + j);
}

static void private_variables(void)
{
  int start = 5, seen[8];
#pragma acc parallel loop gang num_gangs(8) firstprivate(start) copyout(seen)
  for (int i = 0; i < 8; ++i) {
    int own = start;
    own += i;
    seen[i] = own;
  }
  CHECK(start == 5);
  for (int i = 0; i < 8; ++i)
    CHECK(seen[i] == 5 + i);
}

/* What a construct sees of where it runs; the routine is the compiler's on both sides. */
static int on_host(int offload)
{
  int host = -1;
#pragma acc parallel if (offload) copyout(host)
  host = acc_on_device(acc_device_host);
  return host;
}

int main(int argc, char **argv)
{
  (void)argv;
  loops();
  reductions();
  nested();
  private_variables();
  /* With an argument all is for the host. */
  CHECK(on_host(1) == (argc > 1));
  CHECK(on_host(0) == 1);
  CHECK(acc_get_device_type() == (argc > 1 ? acc_device_host : acc_device_nvidia));
  puts("passed");
  return 0;
}
