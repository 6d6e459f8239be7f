/* An OMPT tool that writes down every target event, one line each, as the test
 * reads it: what, endpoint, thread, then fields of the form name=value. With
 * OMPT_LOG_PLAIN set it registers the callbacks without endpoints. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <omp-tools.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static FILE *log_file;
static atomic_ulong next = 1;

/* The object that the return address is in. */
static const char *object_of(const void *address) {
  Dl_info info;
  if (!address || !dladdr(address, &info)) return "nothing";
  const char *slash = strrchr(info.dli_fname, '/');
  return slash ? slash + 1 : info.dli_fname;
}

/* One call of a buffered stream is one piece: lines of several threads do not mix. */
#define LOG(what, endpoint, format, ...) \
  fprintf(log_file, what " %s thread=%d " format "\n", endpoint, gettid(), __VA_ARGS__)

static const char *name(ompt_scope_endpoint_t endpoint) {
  return endpoint == ompt_scope_begin ? "begin" : "end";
}

static void on_target_emi(ompt_target_t kind, ompt_scope_endpoint_t endpoint, int device, ompt_data_t *task,
                          ompt_data_t *target_task, ompt_data_t *target, const void *codeptr) {
  if (endpoint == ompt_scope_begin) target->value = atomic_fetch_add(&next, 1);
  LOG("target", name(endpoint), "kind=%d device=%d task=%d target_task=%d region=%lu from=%s address=%p", kind,
      device, task != NULL, target_task != NULL, (unsigned long)target->value, object_of(codeptr), codeptr);
}

static void on_data_op_emi(ompt_scope_endpoint_t endpoint, ompt_data_t *target_task, ompt_data_t *target,
                           ompt_id_t *id, ompt_target_data_op_t operation, void *source, int source_device,
                           void *to, int to_device, size_t bytes, const void *codeptr) {
  if (endpoint == ompt_scope_begin) *id = atomic_fetch_add(&next, 1);
  LOG("op", name(endpoint),
      "kind=%d id=%lu region=%lu target_task=%d source=%p source_device=%d to=%p to_device=%d bytes=%zu "
      "from=%s address=%p",
      operation, (unsigned long)*id, (unsigned long)target->value, target_task != NULL, source, source_device,
      to, to_device, bytes, object_of(codeptr), codeptr);
}

static void on_submit_emi(ompt_scope_endpoint_t endpoint, ompt_data_t *target, ompt_id_t *id,
                          unsigned int teams) {
  if (endpoint == ompt_scope_begin) *id = atomic_fetch_add(&next, 1);
  LOG("submit", name(endpoint), "id=%lu region=%lu teams=%u", (unsigned long)*id,
      (unsigned long)target->value, teams);
}

static void on_target(ompt_target_t kind, ompt_scope_endpoint_t endpoint, int device, ompt_data_t *task,
                      ompt_id_t region, const void *codeptr) {
  LOG("target", name(endpoint), "kind=%d device=%d task=%d target_task=1 region=%lu from=%s address=%p", kind,
      device, task != NULL, (unsigned long)region, object_of(codeptr), codeptr);
}

static void on_data_op(ompt_id_t region, ompt_id_t id, ompt_target_data_op_t operation, void *source,
                       int source_device, void *to, int to_device, size_t bytes, const void *codeptr) {
  LOG("op", "only", "kind=%d id=%lu region=%lu source=%p source_device=%d to=%p to_device=%d bytes=%zu from=%s",
      operation, (unsigned long)id, (unsigned long)region, source, source_device, to, to_device, bytes,
      object_of(codeptr));
}

static void on_submit(ompt_id_t region, ompt_id_t id, unsigned int teams) {
  LOG("submit", "only", "id=%lu region=%lu teams=%u", (unsigned long)id, (unsigned long)region, teams);
}

static void on_initialize(int device, const char *type, ompt_device_t *handle, ompt_function_lookup_t lookup,
                          const char *documentation) {
  (void)documentation;
  LOG("initialize", "only", "device=%d type=%s handle=%d lookup=%d", device, type, handle != NULL,
      lookup != NULL);
}

static void on_load(int device, const char *file, int64_t offset, void *in_file, size_t bytes, void *host,
                    void *device_address, uint64_t module) {
  (void)file, (void)offset, (void)in_file, (void)device_address;
  LOG("load", "only", "device=%d bytes=%zu host=%d module=%lu", device, bytes, host != NULL,
      (unsigned long)module);
}

static void on_finalize(int device) { LOG("finalize", "only", "device=%d", device); }

static int initialize(ompt_function_lookup_t lookup, int initial_device, ompt_data_t *tool) {
  (void)initial_device, (void)tool;
  ompt_set_callback_t set = (ompt_set_callback_t)lookup("ompt_set_callback");
  log_file = fopen(getenv("OMPT_LOG"), "w");
  if (!log_file || !set) return 0;
  set(ompt_callback_device_initialize, (ompt_callback_t)on_initialize);
  set(ompt_callback_device_load, (ompt_callback_t)on_load);
  set(ompt_callback_device_finalize, (ompt_callback_t)on_finalize);
  if (getenv("OMPT_LOG_PLAIN")) {
    set(ompt_callback_target, (ompt_callback_t)on_target);
    set(ompt_callback_target_data_op, (ompt_callback_t)on_data_op);
    set(ompt_callback_target_submit, (ompt_callback_t)on_submit);
  } else {
    set(ompt_callback_target_emi, (ompt_callback_t)on_target_emi);
    set(ompt_callback_target_data_op_emi, (ompt_callback_t)on_data_op_emi);
    set(ompt_callback_target_submit_emi, (ompt_callback_t)on_submit_emi);
  }
  return 1;
}

static void finalize(ompt_data_t *tool) {
  (void)tool;
  fprintf(log_file, "over only\n");
  fclose(log_file);
}

ompt_start_tool_result_t *ompt_start_tool(unsigned int version, const char *runtime) {
  (void)version, (void)runtime;
  static ompt_start_tool_result_t result = {initialize, finalize, {0}};
  return &result;
}
