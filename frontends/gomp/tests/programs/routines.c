/* The routines of devices and their memory. */
#include "check.h"
#include <omp.h>
#include <string.h>

int main(void)
{
  int devices = omp_get_num_devices(), host = omp_get_initial_device();
  CHECK(devices == DEVICES && host == devices && omp_get_device_num() == host);
  for (int device = 0; device < devices; device++) {
    int on = -1, initial = 1;
#pragma omp target device(device) map(from : on, initial)
    on = omp_get_device_num(), initial = omp_is_initial_device();
    CHECK(on == device && !initial);

    int list[16], back[16] = {0};
    for (int i = 0; i < 16; i++)
      list[i] = i;
    int *memory = omp_target_alloc(sizeof list, device);
    CHECK(memory);
    CHECK(omp_target_memcpy(memory, list, sizeof list, 0, 0, device, host) == 0);
#pragma omp target device(device) is_device_ptr(memory)
    for (int i = 0; i < 16; i++)
      memory[i] += 100;
    CHECK(omp_target_memcpy(back, memory, 4 * sizeof *list, 0, 8 * sizeof *list, host, device) == 0);
    CHECK(back[0] == 108 && back[3] == 111 && back[4] == 0);

    size_t volume[] = {2, 2}, to[] = {0, 0}, from[] = {1, 1}, square[] = {4, 4};
    CHECK(omp_target_memcpy_rect(back, memory, sizeof *list, 2, volume, to, from, square, square, host,
                                 device) == 0);
    CHECK(back[0] == 105 && back[1] == 106 && back[4] == 109 && back[5] == 110);
    CHECK(omp_target_memcpy_rect(NULL, NULL, 0, 0, NULL, NULL, NULL, NULL, NULL, host, device) >= 3);

    CHECK(!omp_target_is_present(list, device));
    CHECK(omp_target_associate_ptr(list, memory, sizeof list, 0, device) == 0);
    CHECK(omp_target_is_present(list, device));
#pragma omp target device(device) map(tofrom : list)
    list[0] = -1;
    CHECK(list[0] == 0);
#pragma omp target update device(device) from(list)
    CHECK(list[0] == -1 && list[1] == 101);
    CHECK(omp_target_disassociate_ptr(list, device) == 0);
    CHECK(!omp_target_is_present(list, device));
    omp_target_free(memory, device);
  }
  void *block = omp_target_alloc(100, host);
  CHECK(block && omp_target_is_present(block, host));
  memset(block, 0, 100);
  omp_target_free(block, host);
  puts("passed");
}
