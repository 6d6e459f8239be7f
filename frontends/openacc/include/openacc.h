/* OpenACC 3.3 for C and C++ (chapter 3): the routines, types and values of Gangway. Values are GCC's where it has
   them, so that libraries of both compilers understand each other.

   What is wrong ends the program with a message, after the callbacks for acc_ev_error of acc_prof.h. "Device memory" is
   that of the device that the thread uses; where that is the host, the host's own memory. */
#ifndef _OPENACC_H
#define _OPENACC_H 1

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif
#if __cplusplus >= 201103L
#define __GANGWAY_ACC_NOTHROW noexcept
#elif defined(__cplusplus)
#define __GANGWAY_ACC_NOTHROW throw()
#else
#define __GANGWAY_ACC_NOTHROW __attribute__((__nothrow__))
#endif

/* Types of devices (3.1). acc_device_current is the type, or the device, that the thread uses. */
typedef enum acc_device_t {
  acc_device_current = -1,
  acc_device_none = 0,
  acc_device_default = 1,
  acc_device_host = 2,
  acc_device_not_host = 4,
  acc_device_nvidia = 5,
  acc_device_radeon = 8
} acc_device_t;

/* What devices say of themselves (3.2.6): numbers, and texts from 0x10000 on. */
typedef enum acc_device_property_t {
  acc_property_memory = 1,
  acc_property_free_memory = 2,
  acc_property_shared_memory_support = 3,
  acc_property_name = 0x10001,
  acc_property_vendor = 0x10002,
  acc_property_driver = 0x10003
} acc_device_property_t;

/* Async arguments that are no numbers of queues (2.16): the thread's default queue, the thread itself, and what the
   default queue is at first. */
typedef enum acc_async_t { acc_async_noval = -1, acc_async_sync = -2, acc_async_default = -3 } acc_async_t;

typedef void *acc_handle_t;

/* How many devices of a type there are (3.2.1). */
int acc_get_num_devices(acc_device_t) __GANGWAY_ACC_NOTHROW;
/* The type that the thread uses devices of (3.2.2, 3.2.3). Threads that have not chosen yet get it as well. */
void acc_set_device_type(acc_device_t) __GANGWAY_ACC_NOTHROW;
acc_device_t acc_get_device_type(void) __GANGWAY_ACC_NOTHROW;
/* The device that the thread uses, by number and type (3.2.4, 3.2.5); a negative number is the default one. */
void acc_set_device_num(int, acc_device_t) __GANGWAY_ACC_NOTHROW;
int acc_get_device_num(acc_device_t) __GANGWAY_ACC_NOTHROW;
/* A property of the device of a number and type (3.2.6); 0 or a null pointer if the device does not say. Texts stay. */
size_t acc_get_property(int, acc_device_t, acc_device_property_t) __GANGWAY_ACC_NOTHROW;
const char *acc_get_property_string(int, acc_device_t, acc_device_property_t) __GANGWAY_ACC_NOTHROW;
/* Starts the default device of a type, or that of a number, for the thread to use (3.2.7). acc_init is a mistake where
   the device has been started; acc_init_device leaves it as it is. */
void acc_init(acc_device_t) __GANGWAY_ACC_NOTHROW;
void acc_init_device(int, acc_device_t) __GANGWAY_ACC_NOTHROW;
/* Ends the use of a type's devices, or of that of a number (3.2.8): their queues are waited for, their data goes.
   acc_shutdown is a mistake where none has been started. */
void acc_shutdown(acc_device_t) __GANGWAY_ACC_NOTHROW;
void acc_shutdown_device(int, acc_device_t) __GANGWAY_ACC_NOTHROW;

/* Whether all is done that is in a queue, or in all queues (3.2.9). The last argument of the routines for a device is its
   number among those of the thread's type. */
int acc_async_test(int) __GANGWAY_ACC_NOTHROW;
int acc_async_test_device(int, int) __GANGWAY_ACC_NOTHROW;
int acc_async_test_all(void) __GANGWAY_ACC_NOTHROW;
int acc_async_test_all_device(int) __GANGWAY_ACC_NOTHROW;
/* Waits for that (3.2.10). The names with `async_wait` are those of OpenACC 1.0. */
void acc_wait(int) __GANGWAY_ACC_NOTHROW;
void acc_wait_device(int, int) __GANGWAY_ACC_NOTHROW;
void acc_wait_all(void) __GANGWAY_ACC_NOTHROW;
void acc_wait_all_device(int) __GANGWAY_ACC_NOTHROW;
void acc_async_wait(int) __GANGWAY_ACC_NOTHROW;
void acc_async_wait_all(void) __GANGWAY_ACC_NOTHROW;
/* Has the last queue that is given wait for that (3.2.11). It is the thread's device's, whichever is waited for. */
void acc_wait_async(int, int) __GANGWAY_ACC_NOTHROW;
void acc_wait_device_async(int, int, int) __GANGWAY_ACC_NOTHROW;
void acc_wait_all_async(int) __GANGWAY_ACC_NOTHROW;
void acc_wait_all_device_async(int, int) __GANGWAY_ACC_NOTHROW;
/* Waits until one of so many queues is done, and answers its index (3.2.12); -1 if there is none but acc_async_sync. */
int acc_wait_any(int, int[]) __GANGWAY_ACC_NOTHROW;
int acc_wait_any_device(int, int[], int) __GANGWAY_ACC_NOTHROW;
/* The thread's default queue (3.2.13, 3.2.14): that of `async` without an argument, and of acc_async_noval. */
int acc_get_default_async(void) __GANGWAY_ACC_NOTHROW;
void acc_set_default_async(int) __GANGWAY_ACC_NOTHROW;

/* Whether the caller runs on a device of a type (3.2.15). In compute constructs and routines it is known when they are
   compiled. */
int acc_on_device(acc_device_t) __GANGWAY_ACC_NOTHROW;

/* Device memory (3.2.16, 3.2.17); a null pointer if there is no room. */
void *acc_malloc(size_t) __GANGWAY_ACC_NOTHROW;
void acc_free(void *) __GANGWAY_ACC_NOTHROW;

/* Makes data present, copied or not, and answers where (3.2.18); data that is present is counted once more. */
void *acc_copyin(void *, size_t) __GANGWAY_ACC_NOTHROW;
void *acc_create(void *, size_t) __GANGWAY_ACC_NOTHROW;
void acc_copyin_async(void *, size_t, int) __GANGWAY_ACC_NOTHROW;
void acc_create_async(void *, size_t, int) __GANGWAY_ACC_NOTHROW;
void *acc_present_or_copyin(void *, size_t) __GANGWAY_ACC_NOTHROW;
void *acc_pcopyin(void *, size_t) __GANGWAY_ACC_NOTHROW;
void *acc_present_or_create(void *, size_t) __GANGWAY_ACC_NOTHROW;
void *acc_pcreate(void *, size_t) __GANGWAY_ACC_NOTHROW;
/* Gives data up, copied back or not (3.2.19): once, or with `finalize` as often as it has been counted. What is not
   present, such as null, is left alone. */
void acc_copyout(void *, size_t) __GANGWAY_ACC_NOTHROW;
void acc_copyout_finalize(void *, size_t) __GANGWAY_ACC_NOTHROW;
void acc_delete(void *, size_t) __GANGWAY_ACC_NOTHROW;
void acc_delete_finalize(void *, size_t) __GANGWAY_ACC_NOTHROW;
void acc_copyout_async(void *, size_t, int) __GANGWAY_ACC_NOTHROW;
void acc_copyout_finalize_async(void *, size_t, int) __GANGWAY_ACC_NOTHROW;
void acc_delete_async(void *, size_t, int) __GANGWAY_ACC_NOTHROW;
void acc_delete_finalize_async(void *, size_t, int) __GANGWAY_ACC_NOTHROW;
/* Copies data that is present, to the device or back (3.2.20). */
void acc_update_device(void *, size_t) __GANGWAY_ACC_NOTHROW;
void acc_update_self(void *, size_t) __GANGWAY_ACC_NOTHROW;
void acc_update_device_async(void *, size_t, int) __GANGWAY_ACC_NOTHROW;
void acc_update_self_async(void *, size_t, int) __GANGWAY_ACC_NOTHROW;

/* Makes data of the host's present in device memory of the program's, without a copy (3.2.21), and undoes it (3.2.22). */
void acc_map_data(void *, void *, size_t) __GANGWAY_ACC_NOTHROW;
void acc_unmap_data(void *) __GANGWAY_ACC_NOTHROW;
/* The device's address of data of the host's, and the other way round (3.2.23, 3.2.24); a null pointer if it is not
   present. */
void *acc_deviceptr(void *) __GANGWAY_ACC_NOTHROW;
void *acc_hostptr(void *) __GANGWAY_ACC_NOTHROW;
/* Whether all of some data is present (3.2.25); of no bytes, whether the address is in what is. */
int acc_is_present(void *, size_t) __GANGWAY_ACC_NOTHROW;

/* Copies to, from and inside of device memory (3.2.26 to 3.2.28): where to, and from where. */
void acc_memcpy_to_device(void *, void *, size_t) __GANGWAY_ACC_NOTHROW;
void acc_memcpy_from_device(void *, void *, size_t) __GANGWAY_ACC_NOTHROW;
void acc_memcpy_device(void *, void *, size_t) __GANGWAY_ACC_NOTHROW;
void acc_memcpy_to_device_async(void *, void *, size_t, int) __GANGWAY_ACC_NOTHROW;
void acc_memcpy_from_device_async(void *, void *, size_t, int) __GANGWAY_ACC_NOTHROW;
void acc_memcpy_device_async(void *, void *, size_t, int) __GANGWAY_ACC_NOTHROW;

/* Has the pointer at an address point, on the device, to what it points to on the host, and undoes it (3.2.29). Nothing
   happens where either is not present. */
void acc_attach(void **) __GANGWAY_ACC_NOTHROW;
void acc_attach_async(void **, int) __GANGWAY_ACC_NOTHROW;
void acc_detach(void **) __GANGWAY_ACC_NOTHROW;
void acc_detach_async(void **, int) __GANGWAY_ACC_NOTHROW;
void acc_detach_finalize(void **) __GANGWAY_ACC_NOTHROW;
void acc_detach_finalize_async(void **, int) __GANGWAY_ACC_NOTHROW;

/* Copies from one device to another (3.2.30): the addresses are those of data of the host's that is present there. Then
   come the bytes, the number of the device that is copied to, that which is copied from, and a queue of the latter. */
void acc_memcpy_d2d(void *, void *, size_t, int, int) __GANGWAY_ACC_NOTHROW;
void acc_memcpy_d2d_async(void *, void *, size_t, int, int, int) __GANGWAY_ACC_NOTHROW;

/* CUDA's objects (A.2.1.1). */
void *acc_get_current_cuda_device(void) __GANGWAY_ACC_NOTHROW;
void *acc_get_current_cuda_context(void) __GANGWAY_ACC_NOTHROW;
void *acc_get_cuda_stream(int) __GANGWAY_ACC_NOTHROW;
int acc_set_cuda_stream(int, void *) __GANGWAY_ACC_NOTHROW;

#ifdef __cplusplus
}
/* With GCC's header a number does, too. */
static inline int acc_on_device(int type) { return acc_on_device(static_cast<acc_device_t>(type)); }
#endif
#endif
