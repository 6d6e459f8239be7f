// An OMPT tool that logs the target callbacks of a run in a form that two runs share:
// no addresses, no identifiers, no times. OMPT_TOOL_EMI selects the EMI variants.
#include <omp-tools.h>
#include <stdio.h>

static const char *endpoint_name(ompt_scope_endpoint_t endpoint) {
  switch (endpoint) {
  case ompt_scope_begin: return "begin";
  case ompt_scope_end: return "end";
  default: return "beginend";
  }
}

static const char *kind_name(ompt_target_t kind) {
  switch (kind) {
  case ompt_target: return "target";
  case ompt_target_enter_data: return "enter_data";
  case ompt_target_exit_data: return "exit_data";
  case ompt_target_update: return "update";
  case ompt_target_nowait: return "target_nowait";
  case ompt_target_enter_data_nowait: return "enter_data_nowait";
  case ompt_target_exit_data_nowait: return "exit_data_nowait";
  case ompt_target_update_nowait: return "update_nowait";
  default: return "other";
  }
}

static const char *operation_name(ompt_target_data_op_t operation) {
  switch (operation) {
  case ompt_target_data_alloc: return "alloc";
  case ompt_target_data_transfer_to_device: return "to_device";
  case ompt_target_data_transfer_from_device: return "from_device";
  case ompt_target_data_delete: return "delete";
  case ompt_target_data_associate: return "associate";
  case ompt_target_data_disassociate: return "disassociate";
  case ompt_target_data_alloc_async: return "alloc_async";
  case ompt_target_data_transfer_to_device_async: return "to_device_async";
  case ompt_target_data_transfer_from_device_async: return "from_device_async";
  case ompt_target_data_delete_async: return "delete_async";
  default: return "other";
  }
}

// Identifiers are compared with the ones of the enclosing region, not printed.
static ompt_id_t current_target = 0;

static void on_target(ompt_target_t kind, ompt_scope_endpoint_t endpoint, int device, ompt_data_t *task,
                      ompt_id_t target_id, const void *codeptr) {
  printf("target %s %s device %d task %d codeptr %d\n", kind_name(kind), endpoint_name(endpoint), device,
         task != NULL, codeptr != NULL);
  if (endpoint == ompt_scope_begin) {
    current_target = target_id;
  } else {
    printf("  same id %d\n", target_id == current_target);
  }
}

static void on_data_op(ompt_id_t target_id, ompt_id_t host_op_id, ompt_target_data_op_t operation,
                       void *src, int src_device, void *dest, int dest_device, size_t bytes,
                       const void *codeptr) {
  (void)target_id;
  (void)host_op_id;
  printf("data_op %s %d -> %d bytes %zu src %d dest %d codeptr %d\n", operation_name(operation), src_device,
         dest_device, bytes, src != NULL, dest != NULL, codeptr != NULL);
}

static void on_submit(ompt_id_t target_id, ompt_id_t host_op_id, unsigned int teams) {
  (void)target_id;
  (void)host_op_id;
  printf("submit teams %u\n", teams);
}

static ompt_data_t *current_data = NULL;

static void on_target_emi(ompt_target_t kind, ompt_scope_endpoint_t endpoint, int device, ompt_data_t *task,
                          ompt_data_t *target_task, ompt_data_t *target, const void *codeptr) {
  printf("target_emi %s %s device %d task %d target_task %d codeptr %d\n", kind_name(kind),
         endpoint_name(endpoint), device, task != NULL, target_task != NULL, codeptr != NULL);
  if (endpoint == ompt_scope_begin) {
    target->value = 77;
    current_data = target;
  } else {
    printf("  kept value %d\n", target->value == 77);
  }
}

static void on_data_op_emi(ompt_scope_endpoint_t endpoint, ompt_data_t *target_task, ompt_data_t *target,
                           ompt_id_t *host_op_id, ompt_target_data_op_t operation, void *src, int src_device,
                           void *dest, int dest_device, size_t bytes, const void *codeptr) {
  (void)target_task;
  if (endpoint == ompt_scope_begin) *host_op_id = 4242;
  printf("data_op_emi %s %s %d -> %d bytes %zu src %d dest %d codeptr %d in region %d id kept %d\n",
         endpoint_name(endpoint), operation_name(operation), src_device, dest_device, bytes, src != NULL,
         dest != NULL, codeptr != NULL, target != NULL && target->value == 77, *host_op_id == 4242);
}

static void on_submit_emi(ompt_scope_endpoint_t endpoint, ompt_data_t *target, ompt_id_t *host_op_id,
                          unsigned int teams) {
  if (endpoint == ompt_scope_begin) *host_op_id = 99;
  printf("submit_emi %s teams %u in region %d id kept %d\n", endpoint_name(endpoint), teams,
         target->value == 77, *host_op_id == 99);
}

static int initialize(ompt_function_lookup_t lookup, int initial_device, ompt_data_t *tool) {
  (void)initial_device;
  ompt_set_callback_t set = (ompt_set_callback_t)lookup("ompt_set_callback");
  setvbuf(stdout, NULL, _IOLBF, 0);
  if (tool->value) {
    set(ompt_callback_target_emi, (ompt_callback_t)on_target_emi);
    set(ompt_callback_target_data_op_emi, (ompt_callback_t)on_data_op_emi);
    set(ompt_callback_target_submit_emi, (ompt_callback_t)on_submit_emi);
  } else {
    set(ompt_callback_target, (ompt_callback_t)on_target);
    set(ompt_callback_target_data_op, (ompt_callback_t)on_data_op);
    set(ompt_callback_target_submit, (ompt_callback_t)on_submit);
  }
  return 1;
}

static void finalize(ompt_data_t *tool) {
  (void)tool;
  printf("tool finalize\n");
}

ompt_start_tool_result_t *ompt_start_tool(unsigned int version, const char *runtime) {
  (void)version;
  (void)runtime;
  static ompt_start_tool_result_t result = {initialize, finalize, {0}};
#ifdef OMPT_TOOL_EMI
  result.tool_data.value = 1;
#endif
  return &result;
}
