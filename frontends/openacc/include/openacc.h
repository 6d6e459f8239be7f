/* OpenACC 3.3 for C and C++ (chapter 3): the routines, types and values of Gangway. Values are GCC's, so that
   libraries of both compilers understand each other. */
#ifndef _OPENACC_H
#define _OPENACC_H 1

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#define __GANGWAY_ACC_NOTHROW throw()
#else
#define __GANGWAY_ACC_NOTHROW __attribute__((__nothrow__))
#endif

typedef enum acc_device_t {
  acc_device_current = -1,
  acc_device_none = 0,
  acc_device_default = 1,
  acc_device_host = 2,
  acc_device_not_host = 4,
  acc_device_nvidia = 5,
  acc_device_radeon = 8
} acc_device_t;

typedef enum acc_device_property_t {
  acc_property_memory = 1,
  acc_property_free_memory = 2,
  acc_property_name = 0x10001,
  acc_property_vendor = 0x10002,
  acc_property_driver = 0x10003
} acc_device_property_t;

typedef enum acc_async_t { acc_async_noval = -1, acc_async_sync = -2 } acc_async_t;

typedef void *acc_handle_t;

/* Devices (3.2.1 to 3.2.8). */
int acc_get_num_devices(acc_device_t) __GANGWAY_ACC_NOTHROW;
void acc_set_device_type(acc_device_t) __GANGWAY_ACC_NOTHROW;
acc_device_t acc_get_device_type(void) __GANGWAY_ACC_NOTHROW;
void acc_set_device_num(int, acc_device_t) __GANGWAY_ACC_NOTHROW;
int acc_get_device_num(acc_device_t) __GANGWAY_ACC_NOTHROW;
size_t acc_get_property(int, acc_device_t, acc_device_property_t) __GANGWAY_ACC_NOTHROW;
const char *acc_get_property_string(int, acc_device_t, acc_device_property_t) __GANGWAY_ACC_NOTHROW;
void acc_init(acc_device_t) __GANGWAY_ACC_NOTHROW;
void acc_shutdown(acc_device_t) __GANGWAY_ACC_NOTHROW;

/* Queues (3.2.9 to 3.2.17). */
int acc_async_test(int) __GANGWAY_ACC_NOTHROW;
int acc_async_test_all(void) __GANGWAY_ACC_NOTHROW;
void acc_wait(int) __GANGWAY_ACC_NOTHROW;
void acc_async_wait(int) __GANGWAY_ACC_NOTHROW;
void acc_wait_async(int, int) __GANGWAY_ACC_NOTHROW;
void acc_wait_all(void) __GANGWAY_ACC_NOTHROW;
void acc_async_wait_all(void) __GANGWAY_ACC_NOTHROW;
void acc_wait_all_async(int) __GANGWAY_ACC_NOTHROW;

/* Memory and data (3.2.18 to 3.2.35). */
void *acc_malloc(size_t) __GANGWAY_ACC_NOTHROW;
void acc_free(void *) __GANGWAY_ACC_NOTHROW;
void *acc_copyin(void *, size_t) __GANGWAY_ACC_NOTHROW;
void *acc_present_or_copyin(void *, size_t) __GANGWAY_ACC_NOTHROW;
void *acc_pcopyin(void *, size_t) __GANGWAY_ACC_NOTHROW;
void *acc_create(void *, size_t) __GANGWAY_ACC_NOTHROW;
void *acc_present_or_create(void *, size_t) __GANGWAY_ACC_NOTHROW;
void *acc_pcreate(void *, size_t) __GANGWAY_ACC_NOTHROW;
void acc_copyout(void *, size_t) __GANGWAY_ACC_NOTHROW;
void acc_copyout_finalize(void *, size_t) __GANGWAY_ACC_NOTHROW;
void acc_delete(void *, size_t) __GANGWAY_ACC_NOTHROW;
void acc_delete_finalize(void *, size_t) __GANGWAY_ACC_NOTHROW;
void acc_update_device(void *, size_t) __GANGWAY_ACC_NOTHROW;
void acc_update_self(void *, size_t) __GANGWAY_ACC_NOTHROW;
void acc_copyin_async(void *, size_t, int) __GANGWAY_ACC_NOTHROW;
void acc_create_async(void *, size_t, int) __GANGWAY_ACC_NOTHROW;
void acc_copyout_async(void *, size_t, int) __GANGWAY_ACC_NOTHROW;
void acc_copyout_finalize_async(void *, size_t, int) __GANGWAY_ACC_NOTHROW;
void acc_delete_async(void *, size_t, int) __GANGWAY_ACC_NOTHROW;
void acc_delete_finalize_async(void *, size_t, int) __GANGWAY_ACC_NOTHROW;
void acc_update_device_async(void *, size_t, int) __GANGWAY_ACC_NOTHROW;
void acc_update_self_async(void *, size_t, int) __GANGWAY_ACC_NOTHROW;
void acc_map_data(void *, void *, size_t) __GANGWAY_ACC_NOTHROW;
void acc_unmap_data(void *) __GANGWAY_ACC_NOTHROW;
void *acc_deviceptr(void *) __GANGWAY_ACC_NOTHROW;
void *acc_hostptr(void *) __GANGWAY_ACC_NOTHROW;
int acc_is_present(void *, size_t) __GANGWAY_ACC_NOTHROW;
void acc_memcpy_to_device(void *, void *, size_t) __GANGWAY_ACC_NOTHROW;
void acc_memcpy_from_device(void *, void *, size_t) __GANGWAY_ACC_NOTHROW;
void acc_memcpy_device(void *, void *, size_t) __GANGWAY_ACC_NOTHROW;
void acc_memcpy_to_device_async(void *, void *, size_t, int) __GANGWAY_ACC_NOTHROW;
void acc_memcpy_from_device_async(void *, void *, size_t, int) __GANGWAY_ACC_NOTHROW;
void acc_memcpy_device_async(void *, void *, size_t, int) __GANGWAY_ACC_NOTHROW;
void acc_attach(void **) __GANGWAY_ACC_NOTHROW;
void acc_attach_async(void **, int) __GANGWAY_ACC_NOTHROW;
void acc_detach(void **) __GANGWAY_ACC_NOTHROW;
void acc_detach_async(void **, int) __GANGWAY_ACC_NOTHROW;
void acc_detach_finalize(void **) __GANGWAY_ACC_NOTHROW;
void acc_detach_finalize_async(void **, int) __GANGWAY_ACC_NOTHROW;

/* CUDA's objects (A.2.1.1). */
void *acc_get_current_cuda_device(void) __GANGWAY_ACC_NOTHROW;
void *acc_get_current_cuda_context(void) __GANGWAY_ACC_NOTHROW;
void *acc_get_cuda_stream(int) __GANGWAY_ACC_NOTHROW;
int acc_set_cuda_stream(int, void *) __GANGWAY_ACC_NOTHROW;

/* Where code runs (3.2.19): in compute constructs and routines it is known when they are compiled. */
int acc_on_device(acc_device_t) __GANGWAY_ACC_NOTHROW;

#ifdef __cplusplus
}
/* With GCC's header a number does, too. */
static inline int acc_on_device(int type) { return acc_on_device(static_cast<acc_device_t>(type)); }
#endif
#endif
