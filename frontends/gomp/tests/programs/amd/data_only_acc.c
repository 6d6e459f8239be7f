// A program without device code, which only moves data: devices are there all the same.
#include <openacc.h>
#include <stdio.h>

int main(void) {
  int data[4] = {1, 2, 3, 4};
  if (acc_get_num_devices(acc_device_radeon) != 1 || acc_get_num_devices(acc_device_nvidia) != 0) return 1;
#pragma acc enter data copyin(data)
  for (int at = 0; at < 4; ++at) data[at] = 0;
#pragma acc exit data copyout(data)
  if (data[3] != 4 || acc_get_device_type() != acc_device_radeon) return 2;
  printf("passed\n");
  return 0;
}
