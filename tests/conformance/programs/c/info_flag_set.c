// covers: __tgt_set_info_flag turns information on and off while the program runs
// stderr: equal
#include <stdint.h>
#include <stdio.h>

extern void __tgt_set_info_flag(uint32_t);

int main(void) {
  int a[4] = {0};
#pragma omp target map(tofrom : a)
  a[0]++;
  fprintf(stderr, "on\n");
  __tgt_set_info_flag(1 | 0x20);
#pragma omp target map(tofrom : a)
  a[0]++;
  __tgt_set_info_flag(0);
  fprintf(stderr, "off\n");
#pragma omp target map(tofrom : a)
  a[0]++;
  printf("%d\n", a[0]);
  return 0;
}
