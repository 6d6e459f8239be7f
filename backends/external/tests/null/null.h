/* What the two files of the null back end share. */
#ifndef NULL_H
#define NULL_H

#include <gangway/rtl.h>
#include <stdatomic.h>

#define MAX_SYMBOLS 8
#define ARGUMENTS 1000

/* Kernel arguments, in memory of the back end. */
struct argument_table {
  struct argument_table *next;
  uint64_t slots[ARGUMENTS];
};

struct gangway_rtl_device_s {
  uint32_t ordinal;
  _Atomic size_t used;
  struct argument_table *_Atomic tables;
  _Atomic size_t made_tables;
  _Atomic size_t mapped;
};

struct gangway_rtl_kernel_s {
  const char *name;
  gangway_rtl_status (*run)(uint32_t count, const uint64_t *arguments, gangway_rtl_error *error);
  void *code;              /* of the image's own, instead of `run` */
#if GANGWAY_RTL_VERSION_MINOR >= 1
  gangway_rtl_kernel_properties properties; /* zero: one slot per argument */
#endif
  gangway_rtl_kernel next; /* of the image's own */
};

struct global {
  char name[64];
  size_t size;
  char value[256];
};

struct gangway_rtl_module_s {
  gangway_rtl_kernel kernels[MAX_SYMBOLS];
  size_t kernel_count;
  struct global globals[MAX_SYMBOLS];
  size_t global_count;
  void *code;
  int file;
  _Atomic gangway_rtl_kernel entry_points;
};

/* One thing to do. */
struct operation {
  enum { COPY, FILL, LAUNCH, WAIT, TELL, RELEASE } kind;
  char *to;
  const char *from;
  size_t size;
  uint8_t byte;
  gangway_rtl_kernel kernel;
  uint32_t count;
  const uint64_t *arguments; /* or a packed buffer */
  uint64_t *owned;      /* freed when done; null if none */
  gangway_rtl_event event; /* of a WAIT */
  void (*tell)(void *context); /* of a TELL */
  void *context;
  gangway_rtl_device device; /* of a RELEASE */
  gangway_rtl_status (*release)(const struct operation *operation, gangway_rtl_error *error);
};

static inline char *null_pointer(gangway_rtl_address address) { return (char *)(uintptr_t)address; }

gangway_rtl_status null_fail(gangway_rtl_error *error, gangway_rtl_status status, int64_t code,
                             const char *message, const char *what);
gangway_rtl_status null_perform(const struct operation *operation, gangway_rtl_error *error);
gangway_rtl_status null_enqueue(gangway_rtl_stream stream, const struct operation *operation,
                                gangway_rtl_error *error);

/* code.c: images that contain machine code. */
#ifdef CODE
gangway_rtl_status null_load_code(gangway_rtl_module module, const char *code, size_t size,
                                  gangway_rtl_error *error);
void null_unload_code(gangway_rtl_module module);
gangway_rtl_kernel null_code_kernel(gangway_rtl_module module, const char *name);
void *null_code_global(gangway_rtl_module module, const char *name);
gangway_rtl_status null_run_code(gangway_rtl_kernel kernel, uint32_t count, const uint64_t *arguments,
                                 gangway_rtl_error *error);
#endif

/* calls.c: kernels that call the host. */
#if defined HOST_CALLS || defined CHANNEL
gangway_rtl_status null_ask(uint32_t count, const uint64_t *arguments, gangway_rtl_error *error);
#endif

/* watch.c: an account of the calls. */
#ifdef WATCH
void null_note(uint32_t ordinal, const char *call);
#else
static inline void null_note(uint32_t ordinal, const char *call) { (void)ordinal, (void)call; }
#endif

#endif
