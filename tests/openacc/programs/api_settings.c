// `init`, `set` and `shutdown` need no header.
#include <stdio.h>

int main(void) {
  int list[4] = {1, 2, 3, 4}, n = 0;
#pragma acc init if (n)
#pragma acc init
#pragma acc init device_type(*) device_num(n)
#pragma acc set default_async(3)
#pragma acc set device_num(n++)
  if (n != 1) return printf("the number was evaluated %d times\n", n), 1;
#pragma acc parallel loop copy(list) async
  for (int i = 0; i < 4; i++) list[i] *= 2;
#pragma acc wait(3)
  if (list[3] != 8) return printf("list[3] is %d\n", list[3]), 1;
  // A variable in the place of a type's name: acc_device_default.
  int device_type = 1;
#pragma acc set device_type(device_type)
#pragma acc init device_type(device_type) device_num(0)
#pragma acc parallel loop copy(list)
  for (int i = 0; i < 4; i++) list[i] += 1;
  if (list[3] != 9) return printf("list[3] is %d then\n", list[3]), 1;
#pragma acc shutdown device_type(device_type)
#pragma acc shutdown device_num(0)
#pragma acc shutdown
  puts("ok");
  return 0;
}
