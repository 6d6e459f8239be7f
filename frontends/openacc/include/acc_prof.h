/* The profiling and error callback interface of OpenACC 3.3 (chapter 5). Values and layouts are GCC's, which has those of
   version 2.6; errors came with 3.2. */
#ifndef _ACC_PROF_H
#define _ACC_PROF_H 1

#include <openacc.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum acc_event_t {
  acc_ev_none = 0,
  acc_ev_device_init_start,
  acc_ev_device_init_end,
  acc_ev_device_shutdown_start,
  acc_ev_device_shutdown_end,
  acc_ev_runtime_shutdown,
  acc_ev_create,
  acc_ev_delete,
  acc_ev_alloc,
  acc_ev_free,
  acc_ev_enter_data_start,
  acc_ev_enter_data_end,
  acc_ev_exit_data_start,
  acc_ev_exit_data_end,
  acc_ev_update_start,
  acc_ev_update_end,
  acc_ev_compute_construct_start,
  acc_ev_compute_construct_end,
  acc_ev_enqueue_launch_start,
  acc_ev_enqueue_launch_end,
  acc_ev_enqueue_upload_start,
  acc_ev_enqueue_upload_end,
  acc_ev_enqueue_download_start,
  acc_ev_enqueue_download_end,
  acc_ev_wait_start,
  acc_ev_wait_end,
  /* The program is about to end: it has run into an error. */
  acc_ev_error = 100,
  acc_ev_last
} acc_event_t;

typedef enum acc_construct_t {
  acc_construct_parallel = 0,
  acc_construct_kernels,
  acc_construct_loop,
  acc_construct_data,
  acc_construct_enter_data,
  acc_construct_exit_data,
  acc_construct_host_data,
  acc_construct_atomic,
  acc_construct_declare,
  acc_construct_init,
  acc_construct_shutdown,
  acc_construct_set,
  acc_construct_update,
  acc_construct_routine,
  acc_construct_wait,
  acc_construct_runtime_api,
  acc_construct_serial
} acc_construct_t;

/* What has gone wrong (5.2.2). */
typedef enum acc_error_t {
  acc_error_none = 0,
  acc_error_other,
  acc_error_system,
  acc_error_execution,
  acc_error_device_init,
  acc_error_device_shutdown,
  acc_error_device_unavailable,
  acc_error_device_type_unavailable,
  acc_error_wrong_device_type,
  acc_error_out_of_memory,
  acc_error_not_present,
  acc_error_partly_present,
  acc_error_present,
  acc_error_invalid_argument,
  acc_error_invalid_async,
  acc_error_invalid_null_pointer,
  acc_error_invalid_data_section,
  acc_error_implementation_defined = 100
} acc_error_t;

typedef enum acc_device_api {
  acc_device_api_none = 0,
  acc_device_api_cuda,
  acc_device_api_opencl,
  acc_device_api_coi,
  acc_device_api_other
} acc_device_api;

typedef enum acc_register_t { acc_reg = 0, acc_toggle, acc_toggle_per_thread } acc_register_t;

typedef signed long int _acc_prof_ssize_t;
typedef unsigned long int _acc_prof_size_t;
typedef int _acc_prof_int_t;

#define _ACC_PROF_INFO_VERSION 202211

/* How many bytes of a structure are in use (section 5.2): up to its last field, of an array of n elements, of one
   element. The names are GCC's. */
#define _ACC_PROF_VALID_BYTES_STRUCT(type, last, bytes_of_last) (offsetof(type, last) + (bytes_of_last))
#define _ACC_PROF_VALID_BYTES_TYPE_N(type, n, bytes_of_one) (((n) - 1) * sizeof(type) + (bytes_of_one))
#define _ACC_PROF_VALID_BYTES_BASICTYPE(type) sizeof(type)

typedef struct acc_prof_info {
  acc_event_t event_type;
  _acc_prof_int_t valid_bytes;
  _acc_prof_int_t version;
  acc_device_t device_type;
  _acc_prof_int_t device_number;
  _acc_prof_int_t thread_id;
  _acc_prof_ssize_t async;
  _acc_prof_ssize_t async_queue;
  const char *src_file;
  const char *func_name;
  _acc_prof_int_t line_no, end_line_no;
  _acc_prof_int_t func_line_no, func_end_line_no;
#define _ACC_PROF_INFO_VALID_BYTES 72
} acc_prof_info;

#define _ACC_EVENT_INFO_FIELDS                                                                                         \
  acc_event_t event_type;                                                                                              \
  _acc_prof_int_t valid_bytes;                                                                                         \
  acc_construct_t parent_construct;                                                                                    \
  _acc_prof_int_t implicit;                                                                                            \
  void *tool_info

typedef struct acc_data_event_info {
  _ACC_EVENT_INFO_FIELDS;
  const char *var_name;
  _acc_prof_size_t bytes;
  const void *host_ptr;
  const void *device_ptr;
#define _ACC_DATA_EVENT_INFO_VALID_BYTES 56
} acc_data_event_info;

typedef struct acc_launch_event_info {
  _ACC_EVENT_INFO_FIELDS;
  const char *kernel_name;
  _acc_prof_size_t num_gangs, num_workers, vector_length;
#define _ACC_LAUNCH_EVENT_INFO_VALID_BYTES 56
} acc_launch_event_info;

typedef struct acc_other_event_info {
  _ACC_EVENT_INFO_FIELDS;
#define _ACC_OTHER_EVENT_INFO_VALID_BYTES 24
} acc_other_event_info;

/* Of acc_ev_error: the message ends with a null byte, and stays until the callback returns. The last member is what the
   driver says; 0 where it says nothing. */
typedef struct acc_error_event_info {
  _ACC_EVENT_INFO_FIELDS;
  acc_error_t error_code;
  const char *error_message;
  _acc_prof_size_t runtime_info;
#define _ACC_ERROR_EVENT_INFO_VALID_BYTES 48
} acc_error_event_info;

typedef union acc_event_info {
  acc_event_t event_type;
  acc_data_event_info data_event;
  acc_launch_event_info launch_event;
  acc_error_event_info error_event;
  acc_other_event_info other_event;
} acc_event_info;

typedef struct acc_api_info {
  acc_device_api device_api;
  _acc_prof_int_t valid_bytes;
  acc_device_t device_type;
  _acc_prof_int_t vendor;
  const void *device_handle;
  const void *context_handle;
  const void *async_handle;
#define _ACC_API_INFO_VALID_BYTES 40
} acc_api_info;

typedef void (*acc_prof_callback)(acc_prof_info *, acc_event_info *, acc_api_info *);
typedef void (*acc_prof_reg)(acc_event_t, acc_prof_callback, acc_register_t);
typedef void (*acc_query_fn)(void);
typedef acc_query_fn (*acc_prof_lookup_func)(const char *);

void acc_prof_register(acc_event_t, acc_prof_callback, acc_register_t) __GANGWAY_ACC_NOTHROW;
void acc_prof_unregister(acc_event_t, acc_prof_callback, acc_register_t) __GANGWAY_ACC_NOTHROW;
acc_query_fn acc_prof_lookup(const char *) __GANGWAY_ACC_NOTHROW;
/* A tool has it: it is called before the first device is started. The tool is part of the program, preloaded, or named
   by ACC_PROFLIB. */
void acc_register_library(acc_prof_reg, acc_prof_reg, acc_prof_lookup_func);

#ifdef __cplusplus
}
#endif
#endif
