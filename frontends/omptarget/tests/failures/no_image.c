// A device of another type than the program was compiled for.
// run: default GANGWAY_RTL_PATH={null} GANGWAY_CPU_DEVICES=1 exit=0
// run: mandatory GANGWAY_RTL_PATH={null} GANGWAY_CPU_DEVICES=1 OMP_TARGET_OFFLOAD=MANDATORY signal=ABRT
#include <omp.h>

void __tgt_init_all_rtls(void);

int main(void) {
  int sum = 0;
  __tgt_init_all_rtls();
  // Device 0 is the CPU; the other one has no image.
#pragma omp target device(1) map(tofrom : sum)
  sum = 42;
  return sum != 42;
}
