// What goes wrong again and again is said once for each construct, and counted.
// run: loop GANGWAY_RTL_PATH={null} GANGWAY_CPU_DEVICES=1 exit=0
void __tgt_init_all_rtls(void);

int main(void) {
  int sum = 0;
  __tgt_init_all_rtls();
  // Device 0 is the CPU; the other one has no image.
  for (int i = 0; i < 100; ++i) {
#pragma omp target device(1) map(tofrom : sum)
    sum += 1;
  }
#pragma omp target device(1) map(tofrom : sum)
  sum -= 100;
  return sum != 0;
}
