// covers: omp_target_memset on the device and on the host
#include <omp.h>
#include <stdio.h>

int main(void) {
  int host = omp_get_initial_device(), d = omp_get_default_device();
  unsigned char back[40];
  unsigned char *p = omp_target_alloc(40, d);
  printf("%d\n", omp_target_memset(p, 0xab, 40, d) == p);
  printf("%d\n", omp_target_memset(p + 10, 0x1, 7, d) == p + 10);
  printf("%d\n", omp_target_memset(p, 0, 0, d) == p);
  omp_target_memcpy(back, p, 40, 0, 0, host, d);
  for (int i = 0; i < 40; i++) printf("%02x", back[i]);
  printf("\n");
  omp_target_memset(back, 0x7f, 4, host);
  printf("%02x %02x\n", back[3], back[4]);
  omp_target_free(p, d);
  return 0;
}
