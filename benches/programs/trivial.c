/* The smallest program with a target region: its whole life is start-up. Built
 * without -fopenmp, the same source is the reference for a bare process. */
int main(void) {
  int value = 1;
#pragma omp target map(tofrom : value)
  value -= 1;
  return value;
}
