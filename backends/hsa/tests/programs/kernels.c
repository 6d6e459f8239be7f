// Kernels of the tests: GCC calls them `main._omp_fn.0` and so on, in this order.
long counter = 5;
#pragma omp declare target to(counter)

int main(void) {
  long sums[2] = {3, 4}, wrong = 0;
  // Adds the variable to both.
#pragma omp target map(tofrom : sums)
  sums[0] += counter, sums[1] += counter;
  // Reads what is not there.
#pragma omp target map(tofrom : wrong)
  wrong = *(volatile long *)0x10;
  return (int)sums[0];
}
