// No device can run the program's images.
// run: default GANGWAY_DEVICE=none exit=0
// run: named GANGWAY_DEVICE=cpu OMPTARGET_DISABLE_HOST_PLUGIN=1 exit=0
// run: debug GANGWAY_DEVICE=none GANGWAY_DEBUG=1 exit=0
// run: mandatory GANGWAY_DEVICE=none OMP_TARGET_OFFLOAD=MANDATORY signal=ABRT
// run: plugin_disabled OMPTARGET_DISABLE_HOST_PLUGIN=1 OMP_TARGET_OFFLOAD=MANDATORY signal=ABRT
// run: disabled OMP_TARGET_OFFLOAD=DISABLED exit=0
// run: unknown GANGWAY_DEVICE=nonsense exit=0
int main(void) {
  int sum = 0;
#pragma omp target map(tofrom : sum)
  sum = 42;
  return sum != 42;
}
