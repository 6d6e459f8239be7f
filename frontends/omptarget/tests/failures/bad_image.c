// Device images that were damaged.
// run: corrupt patch=machine exit=0
// run: corrupt_mandatory patch=machine OMP_TARGET_OFFLOAD=MANDATORY signal=ABRT
// run: truncated patch=segments exit=0
// run: truncated_mandatory patch=segments OMP_TARGET_OFFLOAD=MANDATORY signal=ABRT
// run: overwritten patch=magic OMP_TARGET_OFFLOAD=MANDATORY signal=ABRT
int main(void) {
  int sum = 0;
#pragma omp target map(tofrom : sum)
  sum = 42;
  return sum != 42;
}
