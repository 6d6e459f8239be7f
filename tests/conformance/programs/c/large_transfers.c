// covers: transfers of tens of megabytes, odd sizes and offsets, contents checked by a checksum
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int main(void) {
  size_t n = (16u << 20) + 13;
  uint8_t *p = malloc(n);
  for (size_t i = 0; i < n; i++) p[i] = (uint8_t)(i * 31 + (i >> 8));
  uint64_t sum = 0;
#pragma omp target data map(tofrom : p[0 : n])
  {
#pragma omp target map(tofrom : sum)
    for (size_t i = 0; i < n; i++) {
      sum = sum * 3 + p[i];
      p[i] ^= 0xff;
    }
#pragma omp target update from(p[1 : 4097])
    printf("%d %d\n", p[0], p[4097]);
  }
  uint64_t back = 0;
  for (size_t i = 0; i < n; i++) back = back * 5 + p[i];
  printf("%llx %llx\n", (unsigned long long)sum, (unsigned long long)back);
  free(p);
  return 0;
}
