// covers: private and firstprivate scalars, arrays, structs; literals of every width
#include <stdint.h>
#include <stdio.h>

struct box {
  int v[6];
  char tag;
};

int main(void) {
  int8_t i8 = -8;
  uint16_t u16 = 65000;
  int32_t i32 = -100000;
  uint64_t u64 = 0xfedcba9876543210u;
  float f = 1.25f;
  double d = -2.5;
  _Bool b = 1;
  char c = 'x';
  int arr[4] = {1, 2, 3, 4}, tmp[4] = {9, 9, 9, 9};
  struct box box = {{1, 2, 3, 4, 5, 6}, 'q'};
  int64_t isum = 0;
  uint64_t ucopy = 0;
  double fsum = 0;
#pragma omp target firstprivate(i8, u16, i32, u64, f, d, b, c, arr, box) private(tmp) \
    map(tofrom : isum, ucopy, fsum)
  {
    for (int i = 0; i < 4; i++) tmp[i] = arr[i] * 2;
    isum = i8 + u16 + i32 + b + c;
    ucopy = u64;
    fsum = f + d;
    for (int i = 0; i < 4; i++) isum += tmp[i];
    for (int i = 0; i < 6; i++) isum += box.v[i];
    isum += box.tag;
    arr[0] = 100;
    box.v[0] = 100;
    i8 = 1;
  }
  printf("%lld %llx %g\n", (long long)isum, (unsigned long long)ucopy, fsum);
  printf("%d %d %d %d\n", arr[0], box.v[0], i8, tmp[0]);
  return 0;
}
