// The events of section 5.1, in their order, with what they say of data, of queues and of what they are part of.
#include <acc_prof.h>
#include <openacc.h>
#include <stdio.h>
#include <string.h>

enum { N = 4096 };

// A letter for each event: capitals and opening brackets begin something.
static const char letters[] = ".IiSs!CXAF[]{}()<>LlUuDdWw";
static char seen[1000];
static int list[N], other[N], wrong, parent, queue, on_host;
static acc_data_event_info created, deleted;

static void note(acc_prof_info *info, acc_event_info *event, acc_api_info *api) {
  (void)api;
  size_t length = strlen(seen);
  if (info->event_type != event->event_type || info->event_type >= (int)sizeof letters) wrong++;
  if (length + 1 < sizeof seen) seen[length] = letters[info->event_type];
  parent = event->other_event.parent_construct;
  if (info->event_type == acc_ev_wait_start) {
    queue = info->async_queue;
    event->other_event.tool_info = &queue;
  }
  if (info->event_type == acc_ev_wait_end && event->other_event.tool_info != &queue) wrong++;
}

void acc_register_library(acc_prof_reg on, acc_prof_reg off, acc_prof_lookup_func look_up) {
  (void)off, (void)look_up;
  for (int event = acc_ev_device_init_start; event <= acc_ev_wait_end; event++) on(event, note, acc_reg);
}

// What has been told since the last question. The host has no data, and nothing to wait for.
static int told(const char *expected, int line) {
  int right = on_host || !strcmp(seen, expected);
  if (!right) printf("line %d: %s, not %s\n", line, seen, expected);
  memset(seen, 0, sizeof seen);
  return right;
}

#define TOLD(expected) \
  if (!told(expected, __LINE__)) return 1
#define CHECK(what) \
  if (!on_host && !(what)) return printf("line %d: " #what "\n", __LINE__), 1

static int is_about(acc_data_event_info event, const char *name, void *host, size_t bytes, void *device) {
  const char *said = event.var_name ? event.var_name : "";
  return !strcmp(said, name) && event.host_ptr == host && event.bytes == bytes && event.device_ptr == device &&
         event.valid_bytes == _ACC_DATA_EVENT_INFO_VALID_BYTES;
}

// Names are there as long as the callback is under way.
static char created_name[20], deleted_name[20];

static void keep(acc_prof_info *info, acc_event_info *event, acc_api_info *api) {
  (void)info, (void)api;
  const char *name = event->data_event.var_name ? event->data_event.var_name : "";
  int creates = event->event_type == acc_ev_create;
  snprintf(creates ? created_name : deleted_name, sizeof created_name, "%s", name);
  *(creates ? &created : &deleted) = event->data_event;
  (creates ? &created : &deleted)->var_name = creates ? created_name : deleted_name;
}

static int data(void) {
#pragma acc enter data copyin(list)
  TOLD("[ACUu]");
  void *device = acc_deviceptr(list);
  CHECK(is_about(created, "list", list, sizeof list, device) && created.parent_construct == acc_construct_enter_data);
#pragma acc enter data copyin(list)
  TOLD("[]");
#pragma acc update self(list)
  TOLD("(Dd)");
#pragma acc update device(list[0 : N])
  TOLD("(Uu)");
#pragma acc exit data copyout(list)
  TOLD("{}");
#pragma acc exit data copyout(list)
  TOLD("{DdXF}");
  CHECK(is_about(deleted, "list", list, sizeof list, device) && deleted.parent_construct == acc_construct_exit_data);
#pragma acc data create(list)
  {
    TOLD("[AC]");
    CHECK(created.parent_construct == acc_construct_data);
  }
  TOLD("{XF}");
#pragma acc parallel copy(list)
  list[0] = 1;
  TOLD("<[ACUu]Ll{DdXF}>");
  CHECK(created.parent_construct == acc_construct_parallel && created.implicit);
#pragma acc serial copyout(list)
  list[0] = 2;
  CHECK(created.parent_construct == acc_construct_serial);
  TOLD("<[AC]Ll{DdXF}>");
  return 0;
}

static int routines(void) {
  acc_copyin(list, sizeof list);
  TOLD("ACUu");
  CHECK(created.parent_construct == acc_construct_runtime_api && !created.implicit);
  acc_delete(list, sizeof list);
  TOLD("XF");
  CHECK(deleted.parent_construct == acc_construct_runtime_api);
  if (on_host) return 0;
  void *memory = acc_malloc(sizeof other);
  TOLD("A");
  acc_map_data(other, memory, sizeof other);
  TOLD("C");
  CHECK(is_about(created, "", other, sizeof other, memory));
  acc_unmap_data(other);
  TOLD("X");
  CHECK(is_about(deleted, "", other, sizeof other, memory));
  acc_free(memory);
  TOLD("F");
  return 0;
}

static int waits(void) {
#pragma acc enter data create(list)
#pragma acc parallel present(list) async(5)
  list[0] = 3;
  memset(seen, 0, sizeof seen);
#pragma acc wait(5)
  TOLD("Ww");
  CHECK(parent == acc_construct_wait && queue == 5);
  acc_wait(5);
  TOLD("Ww");
  CHECK(parent == acc_construct_runtime_api && queue == 5);
  acc_wait(77);
  TOLD("");
#pragma acc update self(list) async(6)
  memset(seen, 0, sizeof seen);
#pragma acc wait(5, 6)
  TOLD("WwWw");
  CHECK(queue == 6);
  acc_wait_all();
  TOLD("WwWw");
  // A queue waits, and not the thread.
#pragma acc wait(5) async(6)
  TOLD("");
  acc_wait_async(5, 6);
  TOLD("");
#pragma acc parallel present(list) wait(6)
  list[1] = 4;
  CHECK(!strncmp(seen, "Ww<", 3) && queue == 6);
  memset(seen, 0, sizeof seen);
#pragma acc update self(list) wait(5)
  TOLD("Ww(Dd)");
#pragma acc update self(list) async
#pragma acc wait
  CHECK(queue == 5 || queue == 6 || queue == acc_async_default);
  int queues[] = {6};
  memset(seen, 0, sizeof seen);
  acc_wait_any(1, queues);
  CHECK(!seen[0] || !strcmp(seen, "Ww"));
#pragma acc exit data delete (list)
  return 0;
}

int main(void) {
  on_host = acc_get_device_type() == acc_device_host;
  acc_prof_register(acc_ev_create, keep, acc_reg);
  acc_prof_register(acc_ev_delete, keep, acc_reg);
  acc_init(acc_get_device_type());
  CHECK(!strcmp(seen, "Ii"));
  memset(seen, 0, sizeof seen);
  if (data() || routines() || waits()) return 1;
  acc_shutdown(acc_get_device_type());
  CHECK(seen[strlen(seen) - 1] == 's');
  if (wrong) return printf("%d wrong\n", wrong), 1;
  puts("ok");
  return 0;
}
