// What a program asks of the device.
#include "check.h"

// Neither the grid nor the block: what constructs without a clause ask.
static void teams(void) {
  int before[2] = {-1, -1}, after[2] = {-1, -1}, kept[2] = {-1, -1};
#pragma omp target teams distribute parallel for map(from : before) num_teams(3) thread_limit(64)
  for (int i = 0; i < 2; ++i)
    before[i] = i == 0 ? omp_get_max_teams() : omp_get_teams_thread_limit();
#pragma omp target map(from : after)
  {
    omp_set_num_teams(5);
    omp_set_num_teams(-1);
    omp_set_teams_thread_limit(70);
    after[0] = omp_get_max_teams();
    after[1] = omp_get_teams_thread_limit();
  }
  // They belong to the device.
#pragma omp target map(from : kept)
  {
    kept[0] = omp_get_max_teams();
    kept[1] = omp_get_teams_thread_limit();
    omp_set_num_teams(0);
    omp_set_teams_thread_limit(0);
  }
  CHECK(before[0], 0);
  CHECK(before[1], 0);
  CHECK(after[0], 5);
  CHECK(after[1], 70);
  CHECK(kept[0], 5);
  CHECK(kept[1], 70);
}

int main(void) {
  teams();
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
