/* gangway/rtl.h - the interface of an external Gangway back end.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * A back end makes one type of device usable by OpenMP and OpenACC programs that
 * run on Gangway. It is a shared library named
 *
 *     libgangway-rtl-<name>.so          <name>: a-z, 0-9, '-' and '_'
 *
 * that defines functions declared below and is found in the directories of
 * GANGWAY_RTL_PATH (separated by colons), then beside Gangway's own library. The
 * first library of a name is taken. It is opened when something must be asked of
 * it, not before, and stays open until the process ends.
 *
 * Functions are mandatory or optional. A library that lacks a mandatory one, or
 * was built for another major version, is refused, and `gangway info` says why.
 * What an optional function does is left out, or done another way, if it is not
 * defined.
 *
 * Version 1.1 adds functions and members, marked with "since version 1.1". A library
 * that was built for version 1.0 works as before.
 *
 * GENERAL RULES
 *
 * Threads   Any function may be called by any thread at any time, also at the same
 *           time for the same device, unless it says otherwise. Gangway holds no
 *           lock of its own while it is inside a back end.
 * Order     Devices are opened before anything else is asked of them, once per
 *           process, on first use. Handles belong to the device they came from.
 *           Gangway checks what it passes: sizes are not zero, handles are live,
 *           ordinals are below the device count.
 * Units     Sizes are in bytes.
 * Errors    Most functions return a gangway_rtl_status and take a pointer to a
 *           gangway_rtl_error, never null, which they may fill when they fail: a
 *           code of the driver's own and a message of one line without a final
 *           full stop. Gangway adds which device and which part of the program.
 *           A back end prints nothing and never ends the process.
 * Waiting   A device with GANGWAY_RTL_ASYNCHRONOUS gets a stream with every copy,
 *           fill and launch, and may return before the operation is done; the
 *           operations of one stream take effect in order. Host memory that is
 *           named in an operation stays valid until the stream is synchronised.
 *           On all other devices there is no stream (null is passed), and an operation
 *           is done when its function returns.
 * Changes   Functions, flags and trailing structure members may be added with a
 *           new minor version; everything else changes the major version.
 */
#ifndef GANGWAY_RTL_H
#define GANGWAY_RTL_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define GANGWAY_RTL_VERSION_MAJOR 1
#define GANGWAY_RTL_VERSION_MINOR 1

/* What gangway_rtl_version returns. */
#define GANGWAY_RTL_VERSION \
  ((uint32_t)GANGWAY_RTL_VERSION_MAJOR << 16 | (uint32_t)GANGWAY_RTL_VERSION_MINOR)

/* The functions are exported even if the library is built with hidden visibility. */
#if defined(__GNUC__)
#define GANGWAY_RTL_API __attribute__((visibility("default")))
#else
#define GANGWAY_RTL_API
#endif

/* ---- Types ------------------------------------------------------------- */

/* An opened device, a loaded image, a kernel, a stream and an event, in the back
 * end's own terms. Gangway passes them back and never looks inside. Any value is a
 * handle, null too: whether there is one is said by the status of the function that
 * gives it, and by flags. */
typedef struct gangway_rtl_device_s *gangway_rtl_device;
typedef struct gangway_rtl_module_s *gangway_rtl_module;
typedef struct gangway_rtl_kernel_s *gangway_rtl_kernel;
typedef struct gangway_rtl_stream_s *gangway_rtl_stream;
typedef struct gangway_rtl_event_s *gangway_rtl_event;

/* An address in the device's memory, of which any may be valid. Gangway adds offsets to
 * it. (Programs take 0 from omp_target_alloc as a failure.) */
typedef uint64_t gangway_rtl_address;

/* How a function ended. Any other value is taken as GANGWAY_RTL_FAILED. */
typedef int32_t gangway_rtl_status;
enum {
  GANGWAY_RTL_OK = 0,
  /* The device has no room for an allocation. */
  GANGWAY_RTL_OUT_OF_MEMORY = 1,
  /* The image cannot be loaded; the message says what is wrong with it. */
  GANGWAY_RTL_INVALID_IMAGE = 2,
  /* The image has no such kernel or global. */
  GANGWAY_RTL_NO_SUCH_SYMBOL = 3,
  /* The device does not do this; Gangway looks for another way. */
  GANGWAY_RTL_UNSUPPORTED = 4,
  /* The device or its driver failed; code and message say how. */
  GANGWAY_RTL_FAILED = 5
};

/* What went wrong. Both members are zero when a function is called. */
typedef struct gangway_rtl_error {
  /* The driver's code; 0 where it has none. */
  int64_t code;
  /* The driver's words, in UTF-8, ending in a zero byte. */
  char message[248];
} gangway_rtl_error;

/* What a device can do (gangway_rtl_capabilities). */
enum {
  /* Operations are put into streams. The functions of streams are mandatory then. */
  GANGWAY_RTL_ASYNCHRONOUS = 1,
  /* Kernels can use addresses of host memory. */
  GANGWAY_RTL_UNIFIED_MEMORY = 2,
  /* Kernels run in the host's address space, and no longer than the call that
   * launches them: private copies may stay in the host memory of the job. */
  GANGWAY_RTL_PRIVATE_IN_SESSION = 4,
  /* gangway_rtl_copy_between works among the devices of this back end. */
  GANGWAY_RTL_PEER_COPY = 8,
  /* Allocation is slow: the runtime is to keep a pool of memory for mapped data. */
  GANGWAY_RTL_POOLED_MEMORY = 16,
  /* One copy costs more than the bytes of several small ones: the runtime is to send
   * and to fetch a construct's small data in one copy each way. */
  GANGWAY_RTL_PACKED_TRANSFERS = 32,
  /* Since version 1.1: kernels can call functions of the host, which this library then
   * runs by gangway_rtl_host_calls. Needs gangway_rtl_connect_host_calls and
   * gangway_rtl_host_call_link. */
  GANGWAY_RTL_HOST_CALLS = 64,
  /* ... or through a channel in memory that both sides see. Needs
   * gangway_rtl_allocate_visible and gangway_rtl_deallocate_visible as well. */
  GANGWAY_RTL_HOST_CHANNEL = 128,
  /* ... and the library rings when something may have arrived there. */
  GANGWAY_RTL_RINGS = 256,
  /* gangway_rtl_host_range is to be told which ranges of the host are mapped. */
  GANGWAY_RTL_MAPPING_NOTICES = 512,
  /* Copies from and to GANGWAY_RTL_MEMORY_HOST do not hold up the host, while others may:
   * the runtime is to keep some of it for packed data. */
  GANGWAY_RTL_PINNED_STAGING = 1024
};

/* Which memory an allocation wants. */
enum {
  GANGWAY_RTL_MEMORY_DEVICE = 0, /* the host need not be able to touch it */
  GANGWAY_RTL_MEMORY_HOST = 1,   /* host memory that the device can use, by its host address */
  GANGWAY_RTL_MEMORY_SHARED = 2  /* moves between host and device */
};

/* One offload job: from the launch of a kernel to the end of its construct. One thread at a
 * time uses it. Gangway keeps sessions and uses them again. */
typedef struct gangway_rtl_session {
  /* The stream of the job. A synchronous device has none, and gets null. */
  gangway_rtl_stream stream;
  /* The back end's own, zero at the start of each job. Without gangway_rtl_session_end
   * nothing says that a job has ended: what the words lead to must be owned elsewhere. */
  uint64_t words[3];
  /* Since version 1.1: memory of the session that is the back end's own, of the size that
   * gangway_rtl_session_size says, aligned to 16 and zero at the start of each job; null if
   * that is 0. It stays where it is until the session ends. */
  void *own;
  size_t own_size;
} gangway_rtl_session;

/* One launch. Valid, with all that it points to, during the call only, except
 * where it says otherwise. */
typedef struct gangway_rtl_launch {
  /* Size of this structure as Gangway knows it. */
  uint32_t size;
  /* Number of arguments: no more than gangway_rtl_argument_table was asked for, and
   * fewer if not all variables of a construct are arguments of its kernel. */
  uint32_t argument_count;
  /* The arguments, 8 bytes each: device addresses, or values passed by copy. This
   * is the memory that gangway_rtl_argument_table gave, if that is defined. */
  const uint64_t *arguments;
  gangway_rtl_kernel kernel;
  /* The kernel's symbol name; not ended by a zero byte. */
  const char *name;
  uint64_t name_length;
  /* Where the construct stands, in the words of the program's compiler (clang's and
   * flang's: ";file;function;line;column;;"), or null. Stays valid as long as the
   * program's code is loaded. */
  const char *source;
  /* Number of teams in each dimension; 0 leaves it to the device. */
  uint32_t teams[3];
  /* Upper bound of threads per team in each dimension; 0 leaves it to the device. */
  uint32_t thread_limit[3];
  /* Iterations of the associated loop; 0 if unknown. */
  uint64_t trip_count;
  /* Bytes of memory shared by the threads of each team. */
  uint32_t dynamic_group_memory;
  /* Since version 1.1: 1 if clang 23 or later made the kernel. One for the host's processor then
   * has one parameter, the address of a list of the arguments' addresses, unless it has an
   * environment (flang's). Kernels of other devices take the arguments all the same. */
  uint32_t by_address;
  /* Since version 1.1: bytes of the arguments. For a kernel with
   * GANGWAY_RTL_ARGUMENTS_PACKED, `arguments` is its buffer. */
  uint64_t argument_bytes;
  /* Of the arguments, those before and behind the program's own. They are what
   * gangway_rtl_fill_slots has written, or null. */
  uint32_t leading_slots;
  uint32_t trailing_slots;
} gangway_rtl_launch;

/* How a kernel takes its arguments. */
enum {
  /* One slot of 8 bytes per argument. */
  GANGWAY_RTL_ARGUMENTS_SLOTS = 0,
  /* One buffer in which each parameter has its own place and size. */
  GANGWAY_RTL_ARGUMENTS_PACKED = 1,
  /* One slot with the address of a table in device memory, which has a slot per
   * argument. Gangway copies the table to the device. With leading and trailing slots
   * the kernel has at most 8. */
  GANGWAY_RTL_ARGUMENTS_DEVICE_TABLE = 2
};

/* How a kernel's threads begin. */
enum {
  GANGWAY_RTL_MODE_UNKNOWN = 0,
  GANGWAY_RTL_MODE_GENERIC = 1,      /* one thread begins, the others wait */
  GANGWAY_RTL_MODE_SPMD = 2,         /* all threads begin */
  GANGWAY_RTL_MODE_GENERIC_SPMD = 3, /* generic, made to begin with all threads */
  GANGWAY_RTL_MODE_BARE = 4          /* all begin, and there is no OpenMP on the device */
};

/* A parameter in a packed buffer: bytes from its beginning, and bytes (1 to 8). They
 * stand in order, do not overlap, and parameter i begins at offset 8 * i at the latest. */
typedef struct gangway_rtl_parameter {
  uint32_t offset;
  uint32_t size;
} gangway_rtl_parameter;

/* What an image says about a kernel. */
typedef struct gangway_rtl_kernel_properties {
  /* Size of this structure as Gangway knows it. */
  uint32_t size;
  /* One of GANGWAY_RTL_ARGUMENTS_*. */
  int32_t convention;
  /* Slots before the program's arguments; -1 if the image does not say. With those behind
   * them 512 at most. */
  int32_t leading_slots;
  /* Slots behind the program's arguments. */
  uint32_t trailing_slots;
  /* One of GANGWAY_RTL_MODE_*. */
  int32_t mode;
  /* Most threads of a team; 0 if there is no limit of the kernel's. */
  uint32_t max_threads;
  /* Bytes of group memory that each team has without asking. */
  uint32_t static_group_memory;
  /* Most bytes of group memory that a launch may ask for besides; UINT32_MAX if the
   * back end does not say. */
  uint32_t max_dynamic_group_memory;
  /* Where the kernel's environment stands on the device, if `has_environment` is 1. */
  gangway_rtl_address environment;
  uint32_t has_environment;
  /* The parameters of a packed buffer, leading and trailing slots included. They stay
   * valid while the module is loaded. */
  uint32_t parameter_count;
  const gangway_rtl_parameter *parameters;
} gangway_rtl_kernel_properties;

/* Since version 1.1: a function or a virtual table that device code finds by its host address. */
typedef struct gangway_rtl_indirect_call {
  uint64_t host;
  gangway_rtl_address device;
} gangway_rtl_indirect_call;

/* Outcomes of a host call. */
enum {
  GANGWAY_RTL_CALL_ANSWERED = 0,
  GANGWAY_RTL_CALL_NO_SUCH_FUNCTION = 1,
  GANGWAY_RTL_CALL_MALFORMED = 2,
  GANGWAY_RTL_CALL_FAILED = 3, /* the function ended by a panic */
  GANGWAY_RTL_CALL_UNSERVED = 4 /* nobody serves the device's calls */
};

/* Since version 1.1. What the host calls of a device's kernels are served with. Stays valid
 * until the process ends, with all that it points to. */
typedef struct gangway_rtl_host_calls {
  /* Size of this structure as Gangway knows it. */
  uint32_t size;
  /* 1 if there is a channel: on devices with GANGWAY_RTL_HOST_CHANNEL. */
  int32_t has_channel;
  /* Where the device sees the channel. Its contents are the business of Gangway and of the
   * code that it links into device images. */
  gangway_rtl_address channel;
  void *context;
  /* Runs a function of the host on the calling thread, for as long as that takes. Any number
   * of threads may call it at once. It reads the block of `size` bytes and leaves the answer
   * there. One of GANGWAY_RTL_CALL_*. */
  uint32_t (*call)(void *context, uint64_t function, void *block, size_t size);
  /* Something may have arrived in the channel. Returns soon. */
  void (*ring)(void *context);
} gangway_rtl_host_calls;

/* How an image's kernels find the way to the host. */
enum {
  GANGWAY_RTL_LINK_UNUSED = 0, /* they make no host calls */
  GANGWAY_RTL_LINK_OWN = 1,    /* the library sees to it */
  GANGWAY_RTL_LINK_GLOBAL = 2  /* through a pointer of 8 bytes, which is to lead to the channel */
};

/* How a range's relation to the device has changed (gangway_rtl_host_range). */
enum {
  /* It has storage on the device, with its first byte at the given address. Copies follow:
   * the moment to pin or register it. */
  GANGWAY_RTL_RANGE_MAPPED = 1,
  /* It no longer has that storage, and no operation uses the range for it. The range may
   * have been mapped anew before that: count. The program may have freed its memory. */
  GANGWAY_RTL_RANGE_UNMAPPED = 2,
  /* A construct is about to use it in place: the moment to prefetch it. The address is that
   * of the host, and no notice says that this has ended. */
  GANGWAY_RTL_RANGE_USED_IN_PLACE = 3
};

/* ---- The type of device: mandatory -------------------------------------- */

/* GANGWAY_RTL_VERSION of the header that the library was built with. Called
 * first; nothing else is called if the major version is not Gangway's. */
GANGWAY_RTL_API uint32_t gangway_rtl_version(void);

/* 1 if the image could run on a device of this type, else 0. Asked at the start
 * of programs, for every image: it looks at the image's first bytes and must not
 * initialise a driver. */
GANGWAY_RTL_API int gangway_rtl_recognises(const void *image, size_t size);

/* Number of devices of this type. May look for hardware. Absent hardware, or an
 * absent driver, is 0 and no error. Called once. */
GANGWAY_RTL_API uint32_t gangway_rtl_device_count(void);

/* Opens device `ordinal`. Called once for each device, when it is first used. */
GANGWAY_RTL_API gangway_rtl_status gangway_rtl_open(uint32_t ordinal, gangway_rtl_device *device,
                                                    gangway_rtl_error *error);

/* Closes a device that is idle and has no images. */
GANGWAY_RTL_API void gangway_rtl_close(gangway_rtl_device device);

/* ---- Images: mandatory --------------------------------------------------- */

/* Loads an image, whose bytes are valid during the call only.
 * GANGWAY_RTL_INVALID_IMAGE with what is wrong with it. */
GANGWAY_RTL_API gangway_rtl_status gangway_rtl_load(gangway_rtl_device device, const void *image, size_t size,
                                                    gangway_rtl_module *module, gangway_rtl_error *error);

/* Unloads an image of which no kernel is running. */
GANGWAY_RTL_API void gangway_rtl_unload(gangway_rtl_device device, gangway_rtl_module module);

/* The kernel called `name`. GANGWAY_RTL_NO_SUCH_SYMBOL if there is none. */
GANGWAY_RTL_API gangway_rtl_status gangway_rtl_kernel_named(gangway_rtl_device device,
                                                            gangway_rtl_module module, const char *name,
                                                            gangway_rtl_kernel *kernel,
                                                            gangway_rtl_error *error);

/* The address of the global called `name`, of which `size` bytes are wanted.
 * GANGWAY_RTL_NO_SUCH_SYMBOL if there is none. */
GANGWAY_RTL_API gangway_rtl_status gangway_rtl_global_named(gangway_rtl_device device,
                                                            gangway_rtl_module module, const char *name,
                                                            size_t size, gangway_rtl_address *address,
                                                            gangway_rtl_error *error);

/* ---- Memory: mandatory --------------------------------------------------- */

/* Allocates memory, aligned at least to 16. `kind` is one of GANGWAY_RTL_MEMORY_*.
 * GANGWAY_RTL_OUT_OF_MEMORY; GANGWAY_RTL_UNSUPPORTED for a kind it lacks. */
GANGWAY_RTL_API gangway_rtl_status gangway_rtl_allocate(gangway_rtl_device device, size_t size, int32_t kind,
                                                        gangway_rtl_address *address, gangway_rtl_error *error);

/* Frees memory that no operation uses any more; `kind` is that of its allocation. */
GANGWAY_RTL_API gangway_rtl_status gangway_rtl_deallocate(gangway_rtl_device device,
                                                          gangway_rtl_address address, int32_t kind,
                                                          gangway_rtl_error *error);

/* Copies from host memory to the device. */
GANGWAY_RTL_API gangway_rtl_status gangway_rtl_copy_to_device(gangway_rtl_device device,
                                                              gangway_rtl_address to, const void *from,
                                                              size_t size, gangway_rtl_stream stream,
                                                              gangway_rtl_error *error);

/* Copies from the device to host memory. */
GANGWAY_RTL_API gangway_rtl_status gangway_rtl_copy_from_device(gangway_rtl_device device, void *to,
                                                                gangway_rtl_address from, size_t size,
                                                                gangway_rtl_stream stream,
                                                                gangway_rtl_error *error);

/* ---- Launch: mandatory --------------------------------------------------- */

/* Runs a kernel. An asynchronous device must have read or copied the arguments
 * before it returns, unless they are in memory of its own. */
GANGWAY_RTL_API gangway_rtl_status gangway_rtl_launch_kernel(gangway_rtl_device device,
                                                             const gangway_rtl_launch *launch,
                                                             gangway_rtl_session *session,
                                                             gangway_rtl_error *error);

/* ---- Streams: mandatory for devices with GANGWAY_RTL_ASYNCHRONOUS --------- */

/* Creates an empty stream. Gangway keeps streams and uses them again. */
GANGWAY_RTL_API gangway_rtl_status gangway_rtl_create_stream(gangway_rtl_device device,
                                                             gangway_rtl_stream *stream,
                                                             gangway_rtl_error *error);

/* Destroys a stream that has nothing to do. */
GANGWAY_RTL_API gangway_rtl_status gangway_rtl_destroy_stream(gangway_rtl_device device,
                                                              gangway_rtl_stream stream,
                                                              gangway_rtl_error *error);

/* Waits until all operations of the stream are done. If one has failed since the
 * last time, returns that failure, the first if there are several; the stream can
 * then be used again. */
GANGWAY_RTL_API gangway_rtl_status gangway_rtl_synchronize(gangway_rtl_device device,
                                                           gangway_rtl_stream stream,
                                                           gangway_rtl_error *error);

/* ---- Optional ------------------------------------------------------------ */

/* What the device can do: GANGWAY_RTL_ASYNCHRONOUS and so on, joined by |.
 * Without it, nothing of that. */
GANGWAY_RTL_API uint64_t gangway_rtl_capabilities(gangway_rtl_device device);

/* Why there are no devices, in words, or null. The text stays valid. */
GANGWAY_RTL_API const char *gangway_rtl_why_absent(void);

/* Writes a name of the device that stays the same across runs, ending in a zero
 * byte, to `name`, which has room for `size` bytes. Without it, the back end's
 * name and the ordinal serve. */
GANGWAY_RTL_API gangway_rtl_status gangway_rtl_unique_id(uint32_t ordinal, char *name, size_t size,
                                                         gangway_rtl_error *error);

/* Calls `line` with `context` for each property of the device that a person may
 * want to know. */
GANGWAY_RTL_API void gangway_rtl_describe(gangway_rtl_device device,
                                          void (*line)(void *context, const char *key, const char *value),
                                          void *context);

/* Since version 1.1. What the image says about a kernel, which is asked once, after
 * gangway_rtl_kernel_named. `properties` comes filled with what holds without this
 * function: slots, and nothing known. */
GANGWAY_RTL_API gangway_rtl_status gangway_rtl_describe_kernel(gangway_rtl_device device,
                                                               gangway_rtl_module module,
                                                               gangway_rtl_kernel kernel,
                                                               gangway_rtl_kernel_properties *properties,
                                                               gangway_rtl_error *error);

/* Since version 1.1. Bytes that the back end keeps in each session of this device. Asked
 * once. Without it, none. */
GANGWAY_RTL_API size_t gangway_rtl_session_size(gangway_rtl_device device);

/* Since version 1.1. A job is about to launch a kernel: gangway_rtl_kernel_table or
 * gangway_rtl_argument_table, gangway_rtl_fill_slots and gangway_rtl_launch_kernel follow with
 * this session. If it fails, the construct fails, and the session does not end. */
GANGWAY_RTL_API gangway_rtl_status gangway_rtl_session_start(gangway_rtl_device device,
                                                             gangway_rtl_session *session,
                                                             gangway_rtl_error *error);

/* Since version 1.1. A session that has started is over, on any thread: its kernel is done, or
 * has failed, or has never been launched. What the session has taken can be used again. */
GANGWAY_RTL_API void gangway_rtl_session_end(gangway_rtl_device device, gangway_rtl_session *session);

/* Since version 1.1. Called before gangway_rtl_launch_kernel for kernels that have
 * leading or trailing slots, to write them. Not kept beyond the call. */
GANGWAY_RTL_API gangway_rtl_status gangway_rtl_fill_slots(gangway_rtl_device device, gangway_rtl_kernel kernel,
                                                          gangway_rtl_session *session, uint64_t *leading,
                                                          uint32_t leading_count, uint64_t *trailing,
                                                          uint32_t trailing_count, gangway_rtl_error *error);

/* Since version 1.1. As gangway_rtl_argument_table, for the launch of this kernel, and
 * asked instead of it. If the device sees the memory, `visible` is set to 1 and `address`
 * to where; a kernel with GANGWAY_RTL_ARGUMENTS_DEVICE_TABLE then gets that address, and
 * no table is copied. Both come as 0. */
GANGWAY_RTL_API gangway_rtl_status gangway_rtl_kernel_table(gangway_rtl_device device,
                                                            gangway_rtl_kernel kernel,
                                                            gangway_rtl_session *session, uint32_t count,
                                                            uint64_t **arguments, int32_t *visible,
                                                            gangway_rtl_address *address,
                                                            gangway_rtl_error *error);

/* Kernels to run once after loading an image, in this order; they take no
 * arguments, and are launched with one thread and an empty name. Stores at most
 * `capacity` of them and returns how many there are. Only for images whose loader
 * does not do it. */
GANGWAY_RTL_API size_t gangway_rtl_constructors(gangway_rtl_device device, gangway_rtl_module module,
                                                gangway_rtl_kernel *kernels, size_t capacity);

/* Since version 1.1. As gangway_rtl_constructors: kernels to run once before an image is
 * unloaded. */
GANGWAY_RTL_API size_t gangway_rtl_destructors(gangway_rtl_device device, gangway_rtl_module module,
                                               gangway_rtl_kernel *kernels, size_t capacity);

/* Since version 1.1. Tells where on the device functions and virtual tables are whose host
 * addresses device code comes across (declare target indirect): `count` pairs in the order
 * of the host addresses, valid during the call only. Called once after loading an image, if
 * there are any, and before its constructors run. Without it, nothing is told: for images
 * whose device code looks up no host address. */
GANGWAY_RTL_API gangway_rtl_status gangway_rtl_indirect_calls(gangway_rtl_device device,
                                                              gangway_rtl_module module,
                                                              const gangway_rtl_indirect_call *pairs,
                                                              size_t count, gangway_rtl_error *error);

/* Since version 1.1. How well an image that gangway_rtl_recognises has taken suits this
 * device: of several images that with the highest rank is loaded first, and the next one
 * if that fails. GANGWAY_RTL_INVALID_IMAGE, with what the image is for and what the device
 * is, if it cannot run here. Without it, all are equal. */
GANGWAY_RTL_API gangway_rtl_status gangway_rtl_fitness(gangway_rtl_device device, const void *image,
                                                       size_t size, uint32_t *rank, gangway_rtl_error *error);

/* Copies within the device, or to device `to_ordinal` of this back end. Without
 * it, Gangway goes through host memory. */
GANGWAY_RTL_API gangway_rtl_status gangway_rtl_copy_between(gangway_rtl_device device, uint32_t to_ordinal,
                                                            gangway_rtl_address to, gangway_rtl_address from,
                                                            size_t size, gangway_rtl_stream stream,
                                                            gangway_rtl_error *error);

/* Sets memory to a byte. Without it, Gangway copies from a filled buffer. */
GANGWAY_RTL_API gangway_rtl_status gangway_rtl_fill(gangway_rtl_device device, gangway_rtl_address to,
                                                    uint8_t byte, size_t size, gangway_rtl_stream stream,
                                                    gangway_rtl_error *error);

/* Memory for up to `count` arguments of the session's launch, as the host writes it. For
 * devices whose kernels read arguments from special memory: they are then built in
 * place and not copied. The memory stays the back end's; it must be valid until
 * the launch, and is asked for again in the next job. Without it, arguments are in
 * host memory of the session. */
GANGWAY_RTL_API gangway_rtl_status gangway_rtl_argument_table(gangway_rtl_device device,
                                                              gangway_rtl_session *session, uint32_t count,
                                                              uint64_t **arguments, gangway_rtl_error *error);

/* Whether all operations of the stream are done: sets `idle` to 1 or 0. Must not
 * wait. Without it, Gangway synchronises the stream instead. */
GANGWAY_RTL_API gangway_rtl_status gangway_rtl_is_idle(gangway_rtl_device device, gangway_rtl_stream stream,
                                                       int32_t *idle, gangway_rtl_error *error);

/* Records an event behind the operations that are in the stream. Without the three
 * functions of events, Gangway synchronises streams instead. */
GANGWAY_RTL_API gangway_rtl_status gangway_rtl_record_event(gangway_rtl_device device,
                                                            gangway_rtl_stream stream,
                                                            gangway_rtl_event *event,
                                                            gangway_rtl_error *error);

/* Lets later operations of the stream wait for an event of any stream of the
 * device. Returns at once. */
GANGWAY_RTL_API gangway_rtl_status gangway_rtl_wait_event(gangway_rtl_device device,
                                                          gangway_rtl_stream stream, gangway_rtl_event event,
                                                          gangway_rtl_error *error);

/* Destroys an event; waits that have been asked for still take place. */
GANGWAY_RTL_API gangway_rtl_status gangway_rtl_destroy_event(gangway_rtl_device device,
                                                             gangway_rtl_event event,
                                                             gangway_rtl_error *error);

/* Since version 1.1. Has `function` called with `context` when all operations that are in
 * the stream now are done or have failed: once, on any thread. The function returns soon
 * and calls nothing of the back end. It is not called if GANGWAY_RTL_OK is not returned.
 * Without it, Gangway asks gangway_rtl_is_idle. */
GANGWAY_RTL_API gangway_rtl_status gangway_rtl_on_complete(gangway_rtl_device device,
                                                           gangway_rtl_stream stream,
                                                           void (*function)(void *context), void *context,
                                                           gangway_rtl_error *error);

/* Since version 1.1. Allocates device memory in the order of a stream: for its operations
 * from here on, and for those of other streams behind an event of it. Both functions are of
 * use only together, and on devices with GANGWAY_RTL_ASYNCHRONOUS. With them, Gangway
 * allocates so what it maps, except small things if it keeps a pool. */
GANGWAY_RTL_API gangway_rtl_status gangway_rtl_allocate_in_stream(gangway_rtl_device device, size_t size,
                                                                  gangway_rtl_stream stream,
                                                                  gangway_rtl_address *address,
                                                                  gangway_rtl_error *error);

/* Since version 1.1. Frees what gangway_rtl_allocate_in_stream gave, behind the operations
 * of the stream, which need not be the same. */
GANGWAY_RTL_API gangway_rtl_status gangway_rtl_deallocate_in_stream(gangway_rtl_device device,
                                                                    gangway_rtl_address address,
                                                                    gangway_rtl_stream stream,
                                                                    gangway_rtl_error *error);

/* Since version 1.1. Whether the image's kernels call the host, and how they find the way:
 * sets `link` to one of GANGWAY_RTL_LINK_*, and `global` to where the pointer stands on the
 * device. Asked once after loading, before a kernel runs. Both come as 0. */
GANGWAY_RTL_API gangway_rtl_status gangway_rtl_host_call_link(gangway_rtl_device device,
                                                              gangway_rtl_module module, int32_t *link,
                                                              gangway_rtl_address *global,
                                                              gangway_rtl_error *error);

/* Since version 1.1. Gives the device what it serves host calls with: when the first image
 * that makes some has been loaded, before a kernel of it runs. A second call brings the
 * same. */
GANGWAY_RTL_API gangway_rtl_status gangway_rtl_connect_host_calls(gangway_rtl_device device,
                                                                  const gangway_rtl_host_calls *calls,
                                                                  gangway_rtl_error *error);

/* Since version 1.1. Memory for the channel, which both sides see, aligned to a page and
 * zero: what one writes atomically the other reads. Gives its address on either side. */
GANGWAY_RTL_API gangway_rtl_status gangway_rtl_allocate_visible(gangway_rtl_device device, size_t size,
                                                                void **host, gangway_rtl_address *address,
                                                                gangway_rtl_error *error);

/* Since version 1.1. Frees what gangway_rtl_allocate_visible gave. */
GANGWAY_RTL_API gangway_rtl_status gangway_rtl_deallocate_visible(gangway_rtl_device device, void *host,
                                                                  gangway_rtl_address address,
                                                                  gangway_rtl_error *error);

/* Since version 1.1. Tells that a range of host memory is mapped, is no longer mapped, or is
 * used in place: `change` is one of GANGWAY_RTL_RANGE_*. `stream` is the construct's
 * where operations of it follow, and null otherwise. A hint: what becomes of it cannot fail the program. */
GANGWAY_RTL_API void gangway_rtl_host_range(gangway_rtl_device device, const void *begin, size_t size,
                                            int32_t change, gangway_rtl_address address,
                                            gangway_rtl_stream stream);

/* Pins host memory and gives the address by which the device uses it. */
GANGWAY_RTL_API gangway_rtl_status gangway_rtl_pin_host(gangway_rtl_device device, void *host, size_t size,
                                                        gangway_rtl_address *address,
                                                        gangway_rtl_error *error);

/* Undoes gangway_rtl_pin_host. */
GANGWAY_RTL_API gangway_rtl_status gangway_rtl_unpin_host(gangway_rtl_device device, void *host,
                                                          gangway_rtl_error *error);

/* The kind of processor, as compilers name it ("sm_90", "gfx90a"): tools are told.
 * The text stays valid as long as the device is open. */
GANGWAY_RTL_API const char *gangway_rtl_architecture(gangway_rtl_device device);

/* Since version 1.1. Handles of a foreign runtime that are there though they are null. */
enum {
  GANGWAY_RTL_FOREIGN_PLATFORM = 1,
  GANGWAY_RTL_FOREIGN_CONTEXT = 2
};

/* The runtime underneath the back end, which programs reach through OpenMP's
 * interop constructs. Platform and context are there if they are not null, or if
 * `handles` says so. */
typedef struct gangway_rtl_foreign {
  int32_t kind;       /* foreign runtime and */
  int32_t vendor;     /* vendor, by their numbers in the OpenMP Additional Definitions */
  int32_t has_device; /* 1 if `device` is a handle, which may be 0 */
  uint32_t handles;   /* since version 1.1: GANGWAY_RTL_FOREIGN_* joined by | */
  void *platform;
  void *device;
  void *context;
} gangway_rtl_foreign;

/* Fills in `foreign`, which comes zeroed. Returns GANGWAY_RTL_UNSUPPORTED if this
 * device has no runtime that programs could call. Without it, none has. */
GANGWAY_RTL_API gangway_rtl_status gangway_rtl_foreign_runtime(gangway_rtl_device device,
                                                               gangway_rtl_foreign *foreign,
                                                               gangway_rtl_error *error);

/* The foreign runtime's handle of a stream. Without it, gangway_rtl_stream is one. */
GANGWAY_RTL_API void *gangway_rtl_foreign_stream(gangway_rtl_device device, gangway_rtl_stream stream);

#ifdef __cplusplus
}
#endif

#endif
