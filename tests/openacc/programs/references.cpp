// References as parameters of routines that threads share, and numbers for acc_on_device.
#include <cstdio>
#include <openacc.h>

#pragma acc routine vector
static void add_in_row(int *row, int n, const int &more) {
#pragma acc loop vector
  for (int i = 0; i < n; i++) row[i] += more;
}

#pragma acc routine worker
static void add(int *rows, int m, int n, const int &more) {
#pragma acc loop worker
  for (int i = 0; i < m; i++) add_in_row(rows + i * n, n, more);
}

int main() {
  constexpr int n = 33, m = 7;
  int rows[m * n], on_host = -1;
  for (int i = 0; i < m * n; i++) rows[i] = i;
  // More workers than a gang can have.
#pragma acc parallel copy(rows) num_workers(64) vector_length(64) copyout(on_host)
  {
    on_host = acc_on_device(static_cast<int>(acc_device_host));
    add(rows, m, n, 1000);
  }
  for (int i = 0; i < m * n; i++)
    if (rows[i] != i + 1000) return std::printf("%d: %d\n", i, rows[i]);
  if (on_host != (acc_get_device_type() == acc_device_host)) return std::puts("on_host");
  if (!acc_on_device(static_cast<int>(acc_device_host))) return std::puts("here");
  std::puts("ok");
}
