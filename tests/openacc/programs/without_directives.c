/* Calls routines, and has no directive. */
#include <openacc.h>
#include <stdio.h>

int main(void) {
  int device = acc_get_device_type();
  if (device != acc_device_host && device != acc_device_nvidia && device != acc_device_radeon) return 1;
  if (_OPENACC != 202211) return 2;
  int numbers[] = {1, 2, 3};
  acc_copyin(numbers, sizeof numbers);
  if (!acc_is_present(numbers, sizeof numbers)) return 3;
  numbers[1] = 5;
  acc_update_device(numbers, sizeof numbers);
  numbers[1] = 0;
  acc_copyout(numbers, sizeof numbers);
  if (numbers[1] != (device == acc_device_host ? 0 : 5)) return 4;
  puts("ok");
}
