// An OMPT tool that checks the life of devices: each is initialised and loaded before its first
// region, and finalised before the tool is. When exactly that happens is the library's choice.
#include <omp-tools.h>
#include <stdio.h>

enum { DEVICES = 64 };
static struct {
  int initialized, loaded, finalized, regions, early, tracing;
} devices[DEVICES];

static void on_initialize(int device, const char *type, ompt_device_t *handle, ompt_function_lookup_t lookup,
                          const char *documentation) {
  (void)documentation;
  (void)handle;
  if (device < 0 || device >= DEVICES) return;
  devices[device].initialized += type != NULL;
  devices[device].tracing = lookup != NULL;
}

static void on_load(int device, const char *file, int64_t offset, void *in_file, size_t bytes, void *host,
                    void *device_address, uint64_t module) {
  (void)file, (void)offset, (void)in_file, (void)device_address, (void)module;
  if (device >= 0 && device < DEVICES) devices[device].loaded += bytes > 0 && host != NULL;
}

static void on_finalize(int device) {
  if (device >= 0 && device < DEVICES) devices[device].finalized++;
}

static void on_submit(ompt_scope_endpoint_t endpoint, ompt_data_t *target, ompt_id_t *host_op_id,
                      unsigned int teams) {
  (void)endpoint, (void)host_op_id, (void)teams;
  // The region's begin callback keeps the device number in its data word.
  const int device = (int)target->value - 1;
  if (endpoint == ompt_scope_begin && !devices[device].loaded) devices[device].early++;
}

static void on_target(ompt_target_t kind, ompt_scope_endpoint_t endpoint, int device, ompt_data_t *task,
                      ompt_data_t *target_task, ompt_data_t *target, const void *codeptr) {
  (void)kind, (void)task, (void)target_task, (void)codeptr;
  if (endpoint != ompt_scope_begin || device < 0 || device >= DEVICES) return;
  target->value = (uint64_t)device + 1;
  if (!devices[device].initialized) devices[device].early++;
  devices[device].regions++;
}

static int initialize(ompt_function_lookup_t lookup, int initial_device, ompt_data_t *tool) {
  (void)initial_device, (void)tool;
  ompt_set_callback_t set = (ompt_set_callback_t)lookup("ompt_set_callback");
  set(ompt_callback_device_initialize, (ompt_callback_t)on_initialize);
  set(ompt_callback_device_finalize, (ompt_callback_t)on_finalize);
  set(ompt_callback_device_load, (ompt_callback_t)on_load);
  set(ompt_callback_target_emi, (ompt_callback_t)on_target);
  set(ompt_callback_target_submit_emi, (ompt_callback_t)on_submit);
  return 1;
}

static void finalize(ompt_data_t *tool) {
  (void)tool;
  for (int d = 0; d < DEVICES; d++) {
    if (!devices[d].regions) continue;
    printf("device %d: initialised %d, loaded %d, used early %d, finalised %d, regions %d\n", d,
           devices[d].initialized, devices[d].loaded, devices[d].early, devices[d].finalized,
           devices[d].regions);
  }
  fflush(stdout);
}

ompt_start_tool_result_t *ompt_start_tool(unsigned int version, const char *runtime) {
  (void)version, (void)runtime;
  static ompt_start_tool_result_t result = {initialize, finalize, {0}};
  return &result;
}
