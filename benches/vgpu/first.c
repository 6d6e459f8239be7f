/* A whole program with one small target region: how long until a GCC program has run
 * its first kernel. */
int main(void) {
  int value = 41;
#pragma omp target map(tofrom : value)
  value += 1;
  return value != 42;
}
