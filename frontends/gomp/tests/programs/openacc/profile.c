/* Callbacks of a tool in the program: which events there are, in which order, and what they say. */
#include "../check.h"
#include <acc_prof.h>
#include <openacc.h>
#include <string.h>

#ifdef AMD
enum { TYPE = acc_device_radeon, API = acc_device_api_other, VECTOR = 64 };
#else
enum { TYPE = acc_device_nvidia, API = acc_device_api_cuda, VECTOR = 32 };
#endif

static char events[256];
static int wrong;
static char mark;

static void note(acc_prof_info *info, acc_event_info *event, acc_api_info *api)
{
  static const char letters[] = "-iI_______eExXuUcClL";
  size_t length = strlen(events);
  if (info->event_type < (int)sizeof letters - 1 && letters[info->event_type] != '_')
    if (length + 1 < sizeof events)
      events[length] = letters[info->event_type];
  wrong += info->version != 201711 || info->valid_bytes != (int)sizeof *info;
  wrong += event->event_type != info->event_type || api->device_type != info->device_type;
  if (info->event_type == acc_ev_compute_construct_start) {
    wrong += info->device_type != TYPE || event->other_event.implicit;
    event->other_event.tool_info = &mark;
  }
  if (info->event_type == acc_ev_compute_construct_end)
    wrong += event->other_event.tool_info != &mark;
  if (info->event_type == acc_ev_enqueue_launch_start) {
    wrong += info->async != 7 || !strstr(event->launch_event.kernel_name, "omp_fn");
    wrong += event->launch_event.num_gangs != 3 || event->launch_event.num_workers != 2;
    wrong += event->launch_event.vector_length != VECTOR || api->device_api != API;
  }
}

void acc_register_library(acc_prof_reg add, acc_prof_reg remove, acc_prof_lookup_func look_up)
{
  (void)remove, (void)look_up;
  for (acc_event_t event = acc_ev_device_init_start; event < acc_ev_last; ++event)
    add(event, note, acc_reg);
}

int main(void)
{
  int a[8] = {0};
  acc_register_library(acc_prof_register, acc_prof_unregister, acc_prof_lookup);
#pragma acc enter data copyin(a)
  CHECK(strcmp(events, "iIeE") == 0);
  events[0] = 0, memset(events, 0, sizeof events);
#pragma acc parallel loop gang worker vector num_gangs(3) num_workers(2) vector_length(VECTOR) present(a) async(7)
  for (int i = 0; i < 8; ++i)
    a[i] = i;
#pragma acc update self(a) async(7)
#pragma acc wait(7)
  if (strcmp(events, "ceElLxXCuU") != 0)
    fprintf(stderr, "events: %s\n", events);
  CHECK(strcmp(events, "ceElLxXCuU") == 0);
  memset(events, 0, sizeof events);
  acc_prof_unregister(acc_ev_none, NULL, acc_toggle);
#pragma acc exit data delete(a)
  CHECK(events[0] == 0);
  CHECK(wrong == 0 && a[7] == 7);
  puts("passed");
  return 0;
}
