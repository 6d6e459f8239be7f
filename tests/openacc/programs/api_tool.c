// A tool that is part of the program: it is asked to register before the first device is started, with the version of its
// header.
#include <acc_prof.h>
#include <openacc.h>
#include <stdio.h>

static int registered, events[acc_ev_last], versions, wrong;
static acc_construct_t update = acc_construct_runtime_api;

static void note(acc_prof_info *info, acc_event_info *event, acc_api_info *api) {
  wrong += info->event_type != event->event_type || api->valid_bytes != _ACC_API_INFO_VALID_BYTES;
  wrong += info->valid_bytes != _ACC_PROF_INFO_VALID_BYTES;
  events[event->event_type]++;
  versions += info->version == _ACC_PROF_INFO_VERSION;
  if (event->event_type == acc_ev_update_start) update = event->other_event.parent_construct;
}

void acc_register_library(acc_prof_reg on, acc_prof_reg off, acc_prof_lookup_func look_up) {
  registered++;
  wrong += look_up("no such function") != 0 || acc_prof_lookup("none either") != 0;
  on(acc_ev_device_init_start, note, acc_reg);
  on(acc_ev_device_init_end, note, acc_reg);
  on(acc_ev_device_shutdown_start, note, acc_reg);
  on(acc_ev_device_shutdown_end, note, acc_reg);
  on(acc_ev_update_start, note, acc_reg);
  on(acc_ev_update_end, note, acc_reg);
  on(acc_ev_error, note, acc_reg);
  off(acc_ev_update_end, note, acc_reg);
}

int main(void) {
  int list[10] = {0};
  if (registered) return printf("registered before a device is used\n"), 1;
#pragma acc data copyin(list)
  {
#pragma acc update device(list)
  }
  acc_shutdown(acc_get_device_type());
  int starts = events[acc_ev_device_init_start], ends = events[acc_ev_device_init_end];
  if (registered != 1 || starts != 1 || ends != 1 || wrong)
    return printf("%d registered, %d starts, %d ends, %d wrong\n", registered, starts, ends, wrong), 1;
  if (events[acc_ev_device_shutdown_start] != 1 || events[acc_ev_device_shutdown_end] != 1)
    return printf("shutdown: %d and %d\n", events[acc_ev_device_shutdown_start], events[acc_ev_device_shutdown_end]), 1;
  if (events[acc_ev_update_start] > 1 || events[acc_ev_update_end] || events[acc_ev_error])
    return printf("update: %d and %d\n", events[acc_ev_update_start], events[acc_ev_update_end]), 1;
  // The host has nothing to update.
  if (events[acc_ev_update_start] && update != acc_construct_update) return printf("update in %d\n", update), 1;
  if (versions != starts + ends + 2 + events[acc_ev_update_start]) return printf("%d versions\n", versions), 1;
  puts("ok");
  return 0;
}
