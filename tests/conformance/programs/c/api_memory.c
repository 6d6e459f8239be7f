// covers: omp_target_alloc, free, memcpy in all directions, between devices, offsets, zero sizes, errors
#include <omp.h>
#include <stdio.h>
#include <string.h>

int main(void) {
  int host = omp_get_initial_device(), d0 = 0, d1 = 1;
  char text[32] = "the quick brown fox", back[32];
  char *p = omp_target_alloc(32, d0), *q = omp_target_alloc(32, d1), *r = omp_target_alloc(32, d0);
  char *h = omp_target_alloc(32, host);
  printf("allocated %d %d %d %d\n", p != 0, q != 0, r != 0, h != 0);
  printf("h2d %d\n", omp_target_memcpy(p, text, 32, 0, 0, d0, host));
  printf("d2d, one device %d\n", omp_target_memcpy(r, p, 32, 0, 0, d0, d0));
  printf("d2d, two devices %d\n", omp_target_memcpy(q, r, 32, 0, 0, d1, d0));
  memset(back, '.', sizeof back);
  printf("d2h %d\n", omp_target_memcpy(back, q, 32, 0, 0, host, d1));
  printf("%s\n", back);
  memset(back, '.', 31);
  back[31] = 0;
  printf("offsets %d\n", omp_target_memcpy(back, q, 5, 3, 4, host, d1));
  printf("%s\n", back);
  printf("h2h %d\n", omp_target_memcpy(h, text, 20, 0, 0, host, host));
  printf("%s\n", h);
  printf("zero size %d\n", omp_target_memcpy(back, q, 0, 0, 0, host, d1));
  printf("null %d\n", omp_target_memcpy(NULL, text, 4, 0, 0, d0, host) != 0);
  printf("null source %d\n", omp_target_memcpy(p, NULL, 4, 0, 0, d0, host) != 0);
  printf("alloc 0: %d\n", omp_target_alloc(0, d0) == NULL);
  omp_target_free(p, d0);
  omp_target_free(q, d1);
  omp_target_free(r, d0);
  omp_target_free(h, host);
  return 0;
}
