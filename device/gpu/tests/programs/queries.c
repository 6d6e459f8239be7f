// What a program asks of the device.
#include "check.h"

int main(void) {
  int host = 1, device = -1, devices = -1, initial = -1, dynamic = -1, cancel = -1, levels = -1;
  double seconds = -1, tick = 0;
#pragma omp target map(from : host, device, devices, initial, dynamic, cancel, levels, seconds, tick)
  {
    host = omp_is_initial_device();
    device = omp_get_device_num();
    devices = omp_get_num_devices();
    initial = omp_get_initial_device();
    omp_set_dynamic(1);
    dynamic = omp_get_dynamic();
    cancel = omp_get_cancellation();
    levels = omp_get_max_active_levels() * 10 + omp_get_supported_active_levels();
    double start = omp_get_wtime();
    do
      seconds = omp_get_wtime() - start;
    while (seconds <= 0);
    tick = omp_get_wtick();
  }
  CHECK(host, 0);
  CHECK(device, omp_get_default_device());
  CHECK(devices, omp_get_num_devices());
  CHECK(initial, omp_get_initial_device());
  CHECK(dynamic, 0);
  CHECK(cancel, 0);
  CHECK(levels, 11);
  CHECK(seconds > 0 && seconds < 10, 1);
  CHECK(tick > 0 && tick < 1, 1);
  return finish();
}
