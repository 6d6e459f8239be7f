/* A back end without hardware: the smallest complete one, and the example of
 * docs/writing-a-back-end.md.
 *
 * Its devices are memory of this process with a limit, its images are text, and
 * its kernels are functions of this file. An image looks like this, each line
 * ending in a line feed:
 *
 *     GWNULL<zero byte>
 *     kernel scale
 *     global factor 8
 *
 * The tests build it in several variants:
 *     -DDEVICES=n           number of devices (default 1)
 *     -DVERSION=n           what gangway_rtl_version returns
 *     -DWITHOUT_LAUNCH      lacks a mandatory function
 *     -DMANDATORY_ONLY      copies and waits with mandatory functions alone
 *     -DFAILING_OPEN        its devices cannot be opened
 *     -DMEMORY=n            bytes that a device has (default 1 MiB)
 *     -DOWN_ARGUMENTS       kernel arguments are in memory of the back end
 *     -DSESSIONS            they belong to sessions, and are used again (and -DOWN_ARGUMENTS)
 *     -DVISIBLE_TABLES      tables of arguments are in memory that the device sees
 *     -DASYNCHRONOUS        with streams and events (and async.c)
 *     -DSTREAM_ORDERED      with memory in the order of streams (and -DASYNCHRONOUS)
 *     -DHOST_CALLS          kernels can call the host
 *     -DCHANNEL             they do so through a channel, which an image's global leads to
 *     -DNOTICES             it is told of ranges that are mapped
 *     -DSLOW=n              copies take n microseconds, and longer if they are large
 *     -DCODE                images may be machine code behind a line "elf" (and code.c)
 *     -DWATCH               calls are written down (and watch.c)
 *
 * Built with the header of version 1.0, it lacks what later versions have added.
 */
#define _GNU_SOURCE
#include "null.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef SLOW
#include <unistd.h>
#endif

#ifndef DEVICES
#define DEVICES 1
#endif
#ifndef VERSION
#define VERSION GANGWAY_RTL_VERSION
#endif
#ifndef MEMORY
#define MEMORY (1 << 20)
#endif
#define OWN_SLOT 0x0E0E
#define ARCHITECTURE 2

/* ---- Failing ------------------------------------------------------------ */

gangway_rtl_status null_fail(gangway_rtl_error *error, gangway_rtl_status status, int64_t code,
                             const char *message, const char *what)
{
  error->code = code;
  snprintf(error->message, sizeof error->message, message, what);
  return status;
}

/* ---- The type of device -------------------------------------------------- */

static const char magic[8] = "GWNULL"; /* and two zero bytes, of which the first counts */
#define MAGIC_SIZE 7

uint32_t gangway_rtl_version(void) { return VERSION; }

int gangway_rtl_recognises(const void *image, size_t size)
{
  return size >= MAGIC_SIZE && memcmp(image, magic, MAGIC_SIZE) == 0;
}

uint32_t gangway_rtl_device_count(void)
{
  null_note(0, "count");
  return DEVICES;
}

const char *gangway_rtl_why_absent(void) { return "the null back end was built without devices"; }

gangway_rtl_status gangway_rtl_open(uint32_t ordinal, gangway_rtl_device *device, gangway_rtl_error *error)
{
#ifdef FAILING_OPEN
  (void)ordinal, (void)device;
  return null_fail(error, GANGWAY_RTL_FAILED, 802, "the %s is not powered", "accelerator");
#else
  struct gangway_rtl_device_s *opened = calloc(1, sizeof *opened);
  if (!opened)
    return null_fail(error, GANGWAY_RTL_OUT_OF_MEMORY, 0, "no memory for %s", "a device");
  opened->ordinal = ordinal;
  *device = opened;
  null_note(ordinal, "open");
  return GANGWAY_RTL_OK;
#endif
}

void gangway_rtl_close(gangway_rtl_device device)
{
  while (device->tables) {
    struct argument_table *next = device->tables->next;
    free(device->tables);
    device->tables = next;
  }
  free(device);
}

uint64_t gangway_rtl_capabilities(gangway_rtl_device device)
{
  (void)device;
  /* Its kernels are the host's code: they can follow any address. */
  uint64_t capabilities = GANGWAY_RTL_UNIFIED_MEMORY;
#ifndef MANDATORY_ONLY
  capabilities |= GANGWAY_RTL_PEER_COPY;
#endif
#ifdef ASYNCHRONOUS
  capabilities |= GANGWAY_RTL_ASYNCHRONOUS;
#if GANGWAY_RTL_VERSION_MINOR >= 1
  capabilities |= GANGWAY_RTL_POOLED_MEMORY | GANGWAY_RTL_PACKED_TRANSFERS;
#endif
#endif
#ifdef HOST_CALLS
  capabilities |= GANGWAY_RTL_HOST_CALLS;
#endif
#ifdef CHANNEL
  capabilities |= GANGWAY_RTL_HOST_CHANNEL | GANGWAY_RTL_RINGS;
#endif
#ifdef NOTICES
  capabilities |= GANGWAY_RTL_MAPPING_NOTICES;
#endif
  return capabilities;
}

gangway_rtl_status gangway_rtl_unique_id(uint32_t ordinal, char *name, size_t size, gangway_rtl_error *error)
{
  (void)error;
  snprintf(name, size, "NULL-%04u", ordinal);
  return GANGWAY_RTL_OK;
}

void gangway_rtl_describe(gangway_rtl_device device, void (*line)(void *, const char *, const char *),
                          void *context)
{
  char used[64];
  snprintf(used, sizeof used, "%zu of %d bytes used", atomic_load(&device->used), MEMORY);
  line(context, "Device", "null");
  line(context, "Memory", used);
#ifdef SESSIONS
  char tables[64];
  snprintf(tables, sizeof tables, "%zu", atomic_load(&device->made_tables));
  line(context, "Tables", tables);
#endif
#ifdef NOTICES
  char mapped[64];
  snprintf(mapped, sizeof mapped, "%zu bytes of the host", atomic_load(&device->mapped));
  line(context, "Mapped", mapped);
#endif
}

/* ---- Memory -------------------------------------------------------------- */

/* In front of each block stands its size. */
#define HEADER 16

gangway_rtl_status gangway_rtl_allocate(gangway_rtl_device device, size_t size, int32_t kind,
                                        gangway_rtl_address *address, gangway_rtl_error *error)
{
  if (kind != GANGWAY_RTL_MEMORY_DEVICE)
    return GANGWAY_RTL_UNSUPPORTED;
  if (size > MEMORY || atomic_fetch_add(&device->used, size) + size > MEMORY) {
    if (size <= MEMORY)
      atomic_fetch_sub(&device->used, size);
    return null_fail(error, GANGWAY_RTL_OUT_OF_MEMORY, 2, "no room for %s", "the block");
  }
  char *block = malloc(HEADER + size);
  if (!block)
    return GANGWAY_RTL_OUT_OF_MEMORY;
  memcpy(block, &size, sizeof size);
  *address = (gangway_rtl_address)(uintptr_t)(block + HEADER);
  null_note(device->ordinal, "allocate");
  return GANGWAY_RTL_OK;
}

gangway_rtl_status gangway_rtl_deallocate(gangway_rtl_device device, gangway_rtl_address address, int32_t kind,
                                          gangway_rtl_error *error)
{
  (void)kind, (void)error;
  char *block = null_pointer(address) - HEADER;
  size_t size;
  memcpy(&size, block, sizeof size);
  atomic_fetch_sub(&device->used, size);
  /* Whoever still uses it is to notice. */
  memset(block, 0xdd, HEADER + size);
  free(block);
  null_note(device->ordinal, "free");
  return GANGWAY_RTL_OK;
}

/* With streams, an operation is put into one; without, it is done here and now. */
static gangway_rtl_status submit(gangway_rtl_stream stream, const struct operation *operation,
                                 gangway_rtl_error *error)
{
#ifdef ASYNCHRONOUS
  if (!stream)
    return null_fail(error, GANGWAY_RTL_FAILED, 1, "%s without a stream", "an operation");
  return null_enqueue(stream, operation, error);
#else
  (void)stream;
  return null_perform(operation, error);
#endif
}

gangway_rtl_status gangway_rtl_copy_to_device(gangway_rtl_device device, gangway_rtl_address to,
                                              const void *from, size_t size, gangway_rtl_stream stream,
                                              gangway_rtl_error *error)
{
  (void)device;
  struct operation copy = {.kind = COPY, .to = null_pointer(to), .from = from, .size = size};
  return submit(stream, &copy, error);
}

gangway_rtl_status gangway_rtl_copy_from_device(gangway_rtl_device device, void *to, gangway_rtl_address from,
                                                size_t size, gangway_rtl_stream stream,
                                                gangway_rtl_error *error)
{
  (void)device;
  struct operation copy = {.kind = COPY, .to = to, .from = null_pointer(from), .size = size};
  return submit(stream, &copy, error);
}

#ifndef MANDATORY_ONLY
gangway_rtl_status gangway_rtl_copy_between(gangway_rtl_device device, uint32_t to_ordinal,
                                            gangway_rtl_address to, gangway_rtl_address from, size_t size,
                                            gangway_rtl_stream stream, gangway_rtl_error *error)
{
  (void)to_ordinal;
  return gangway_rtl_copy_to_device(device, to, null_pointer(from), size, stream, error);
}
#endif

#if !defined WITHOUT_FILL && !defined MANDATORY_ONLY
gangway_rtl_status gangway_rtl_fill(gangway_rtl_device device, gangway_rtl_address to, uint8_t byte,
                                    size_t size, gangway_rtl_stream stream, gangway_rtl_error *error)
{
  (void)device;
  struct operation fill = {.kind = FILL, .to = null_pointer(to), .byte = byte, .size = size};
  return submit(stream, &fill, error);
}
#endif

gangway_rtl_status null_perform(const struct operation *operation, gangway_rtl_error *error)
{
  switch (operation->kind) {
  case COPY:
#ifdef SLOW
    usleep(SLOW + operation->size / 64);
#endif
    memmove(operation->to, operation->from, operation->size);
    return GANGWAY_RTL_OK;
  case FILL:
    memset(operation->to, operation->byte, operation->size);
    return GANGWAY_RTL_OK;
  case LAUNCH:
#ifdef CODE
    if (operation->kernel->code)
      return null_run_code(operation->kernel, operation->count, operation->arguments, error);
#endif
    return operation->kernel->run(operation->count, operation->arguments, error);
  default:
    return null_fail(error, GANGWAY_RTL_FAILED, 3, "%s is no operation", "this");
  }
}

/* ---- Kernels --------------------------------------------------------------- */

/* scale(double *values, uint64_t count, double *factor) */
static gangway_rtl_status scale(uint32_t count, const uint64_t *arguments, gangway_rtl_error *error)
{
  if (count != 3)
    return null_fail(error, GANGWAY_RTL_FAILED, 10, "%s takes 3 arguments", "scale");
  double *values = (double *)null_pointer(arguments[0]);
  const double *factor = (const double *)null_pointer(arguments[2]);
  for (uint64_t i = 0; i < arguments[1]; i++)
    values[i] *= *factor;
  return GANGWAY_RTL_OK;
}

/* sum(uint64_t *result, uint64_t values...) */
static gangway_rtl_status sum(uint32_t count, const uint64_t *arguments, gangway_rtl_error *error)
{
  (void)error;
  uint64_t total = 0;
  for (uint32_t i = 1; i < count; i++)
    total += arguments[i];
  *(uint64_t *)null_pointer(arguments[0]) = total;
  return GANGWAY_RTL_OK;
}

/* fail() */
static gangway_rtl_status fail(uint32_t count, const uint64_t *arguments, gangway_rtl_error *error)
{
  (void)count, (void)arguments;
  return null_fail(error, GANGWAY_RTL_FAILED, 719, "the kernel %s has failed", "fail");
}

/* append(uint64_t *log, uint64_t digit): shows the order of operations. */
static gangway_rtl_status append(uint32_t count, const uint64_t *arguments, gangway_rtl_error *error)
{
  (void)count, (void)error;
  uint64_t *log = (uint64_t *)null_pointer(arguments[0]);
  *log = *log * 10 + arguments[1];
  return GANGWAY_RTL_OK;
}

/* wait_for(uint64_t *flag): runs until somebody sets the flag. */
static gangway_rtl_status wait_for(uint32_t count, const uint64_t *arguments, gangway_rtl_error *error)
{
  (void)count, (void)error;
  while (!atomic_load((_Atomic uint64_t *)null_pointer(arguments[0])))
    ;
  return GANGWAY_RTL_OK;
}

/* prepare(): the constructor of images that have it. */
static gangway_rtl_status prepare(uint32_t count, const uint64_t *arguments, gangway_rtl_error *error)
{
  (void)arguments;
  null_note(0, "prepare");
  return count == 0 ? GANGWAY_RTL_OK
                    : null_fail(error, GANGWAY_RTL_FAILED, 15, "%s", "a constructor got arguments");
}

#if GANGWAY_RTL_VERSION_MINOR >= 1
/* packed(uint64_t *result, uint32_t first, uint8_t second, uint64_t own): its arguments
 * are one buffer, and the last of them is the back end's. */
static gangway_rtl_status packed(uint32_t count, const uint64_t *arguments, gangway_rtl_error *error)
{
  struct { uint64_t *result; uint32_t first; uint8_t second; uint64_t own; } buffer;
  memcpy(&buffer, arguments, sizeof buffer);
  if (count != 4 || buffer.own != OWN_SLOT)
    return null_fail(error, GANGWAY_RTL_FAILED, 16, "%s takes three arguments and one of its own", "packed");
  *buffer.result = buffer.first * 1000ull + buffer.second;
  return GANGWAY_RTL_OK;
}

static const gangway_rtl_parameter packed_parameters[] = {{0, 8}, {8, 4}, {12, 1}, {16, 8}};

/* table(uint64_t own, uint64_t *table), where the table has the arguments of `sum`: as
 * GCC's kernels take them. */
static gangway_rtl_status table(uint32_t count, const uint64_t *arguments, gangway_rtl_error *error)
{
  if (count != 2 || arguments[0] != OWN_SLOT)
    return null_fail(error, GANGWAY_RTL_FAILED, 17, "%s takes a slot of its own and a table", "table");
  const uint64_t *slots = (const uint64_t *)null_pointer(arguments[1]);
  return sum(3, slots, error);
}
#endif

/* finish(): the destructor of images that have it. */
static gangway_rtl_status finish(uint32_t count, const uint64_t *arguments, gangway_rtl_error *error)
{
  (void)count, (void)arguments, (void)error;
  null_note(0, "finish");
  return GANGWAY_RTL_OK;
}

static struct gangway_rtl_kernel_s kernels[] = {
#if defined HOST_CALLS || defined CHANNEL
    {.name = "ask", .run = null_ask},
#endif
    {.name = "finish", .run = finish},
#if GANGWAY_RTL_VERSION_MINOR >= 1
    {.name = "packed",
     .run = packed,
     .properties = {.convention = GANGWAY_RTL_ARGUMENTS_PACKED,
                    .leading_slots = -1,
                    .trailing_slots = 1,
                    .parameters = packed_parameters,
                    .parameter_count = 4,
                    .max_threads = 128,
                    .mode = GANGWAY_RTL_MODE_SPMD}},
    {.name = "table",
     .run = table,
     .properties = {.convention = GANGWAY_RTL_ARGUMENTS_DEVICE_TABLE,
                    .leading_slots = 1,
                    .max_dynamic_group_memory = 4096,
                    .environment = 0,
                    .has_environment = 1}},
#endif
    {.name = "scale", .run = scale},   {.name = "sum", .run = sum},           {.name = "fail", .run = fail},
    {.name = "append", .run = append}, {.name = "wait_for", .run = wait_for}, {.name = "prepare", .run = prepare},
};

static gangway_rtl_kernel find_kernel(const char *name)
{
  for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++)
    if (strcmp(kernels[i].name, name) == 0)
      return &kernels[i];
  return NULL;
}

/* ---- Images ---------------------------------------------------------------- */

/* Copies the next line to `line` and returns what follows it. */
static const char *next_line(const char *at, const char *end, char *line, size_t room)
{
  size_t length = 0;
  while (at < end && *at != '\n') {
    if (length + 1 < room)
      line[length++] = *at;
    at++;
  }
  line[length] = 0;
  return at < end ? at + 1 : end;
}

#if GANGWAY_RTL_VERSION_MINOR >= 1
/* An image may begin with a line "arch <n>": devices run what is for theirs or an older
 * one, and the newest of those suits best. */
gangway_rtl_status gangway_rtl_fitness(gangway_rtl_device device, const void *image, size_t size,
                                       uint32_t *rank, gangway_rtl_error *error)
{
  (void)device;
  char line[100];
  unsigned architecture;
  const char *text = image;
  next_line(text + MAGIC_SIZE, text + size, line, sizeof line);
  if (sscanf(line, "arch %u", &architecture) == 1) {
    *rank = architecture;
    if (architecture > ARCHITECTURE)
      return null_fail(error, GANGWAY_RTL_INVALID_IMAGE, 0, "it is for `%s`, the device is older", line);
  }
  return GANGWAY_RTL_OK;
}
#endif

gangway_rtl_status gangway_rtl_load(gangway_rtl_device device, const void *image, size_t size,
                                    gangway_rtl_module *module, gangway_rtl_error *error)
{
  struct gangway_rtl_module_s *loaded = calloc(1, sizeof *loaded);
  if (!loaded)
    return GANGWAY_RTL_OUT_OF_MEMORY;
  const char *at = (const char *)image + MAGIC_SIZE, *end = (const char *)image + size;
  char line[100], name[100];
  size_t bytes;
  while (at < end) {
    at = next_line(at, end, line, sizeof line);
    if (sscanf(line, "kernel %63s", name) == 1 && loaded->kernel_count < MAX_SYMBOLS && find_kernel(name)) {
      loaded->kernels[loaded->kernel_count++] = find_kernel(name);
    } else if (sscanf(line, "global %63s %zu", name, &bytes) == 2 && loaded->global_count < MAX_SYMBOLS &&
               bytes <= sizeof loaded->globals[0].value) {
      struct global *global = &loaded->globals[loaded->global_count++];
      memcpy(global->name, name, sizeof global->name);
      global->size = bytes;
#ifdef CODE
    } else if (strcmp(line, "elf") == 0) {
      gangway_rtl_status status = null_load_code(loaded, at, end - at, error);
      if (status != GANGWAY_RTL_OK) {
        free(loaded);
        return status;
      }
      at = end;
#endif
    } else if (*line && strncmp(line, "arch ", 5) != 0) {
      free(loaded);
      null_note(device->ordinal, "refuse");
      return null_fail(error, GANGWAY_RTL_INVALID_IMAGE, 0, "`%s` is neither a kernel nor a global", line);
    }
  }
  *module = loaded;
  null_note(device->ordinal, "load");
  return GANGWAY_RTL_OK;
}

void gangway_rtl_unload(gangway_rtl_device device, gangway_rtl_module module)
{
#ifdef CODE
  null_unload_code(module);
#endif
  free(module);
  null_note(device->ordinal, "unload");
}

gangway_rtl_status gangway_rtl_kernel_named(gangway_rtl_device device, gangway_rtl_module module,
                                            const char *name, gangway_rtl_kernel *kernel,
                                            gangway_rtl_error *error)
{
  (void)device, (void)error;
  for (size_t i = 0; i < module->kernel_count; i++)
    if (strcmp(module->kernels[i]->name, name) == 0) {
      *kernel = module->kernels[i];
      return GANGWAY_RTL_OK;
    }
#ifdef CODE
  if ((*kernel = null_code_kernel(module, name)))
    return GANGWAY_RTL_OK;
#endif
  return GANGWAY_RTL_NO_SUCH_SYMBOL;
}

gangway_rtl_status gangway_rtl_global_named(gangway_rtl_device device, gangway_rtl_module module,
                                            const char *name, size_t size, gangway_rtl_address *address,
                                            gangway_rtl_error *error)
{
  (void)device;
  for (size_t i = 0; i < module->global_count; i++)
    if (strcmp(module->globals[i].name, name) == 0) {
      if (size > module->globals[i].size)
        return null_fail(error, GANGWAY_RTL_INVALID_IMAGE, 0, "the global %s is smaller than that", name);
      *address = (gangway_rtl_address)(uintptr_t)module->globals[i].value;
      return GANGWAY_RTL_OK;
    }
#ifdef CODE
  if ((*address = (gangway_rtl_address)(uintptr_t)null_code_global(module, name)))
    return GANGWAY_RTL_OK;
#endif
  return GANGWAY_RTL_NO_SUCH_SYMBOL;
}

#if GANGWAY_RTL_VERSION_MINOR >= 1
gangway_rtl_status gangway_rtl_describe_kernel(gangway_rtl_device device, gangway_rtl_module module,
                                               gangway_rtl_kernel kernel,
                                               gangway_rtl_kernel_properties *properties,
                                               gangway_rtl_error *error)
{
  (void)device, (void)module;
  if (properties->size < sizeof *properties)
    return null_fail(error, GANGWAY_RTL_FAILED, 18, "no room for what is known about %s", kernel->name);
  if (kernel->properties.convention != GANGWAY_RTL_ARGUMENTS_SLOTS) {
    uint32_t size = properties->size;
    *properties = kernel->properties;
    properties->size = size;
  }
  return GANGWAY_RTL_OK;
}

/* What stands in a slot of the back end's own: a real one puts the address of a launch
 * environment or of stacks there. */
gangway_rtl_status gangway_rtl_fill_slots(gangway_rtl_device device, gangway_rtl_kernel kernel,
                                          gangway_rtl_session *session, uint64_t *leading,
                                          uint32_t leading_count, uint64_t *trailing, uint32_t trailing_count,
                                          gangway_rtl_error *error)
{
  (void)device, (void)kernel, (void)session, (void)error;
  for (uint32_t i = 0; i < leading_count; i++)
    leading[i] = OWN_SLOT;
  for (uint32_t i = 0; i < trailing_count; i++)
    trailing[i] = OWN_SLOT;
  return GANGWAY_RTL_OK;
}
#endif

static size_t list_kernels(gangway_rtl_module module, const char *name, gangway_rtl_kernel *list,
                           size_t capacity)
{
  size_t count = 0;
  for (size_t i = 0; i < module->kernel_count; i++)
    if (strcmp(module->kernels[i]->name, name) == 0) {
      if (count < capacity)
        list[count] = module->kernels[i];
      count++;
    }
  return count;
}

size_t gangway_rtl_constructors(gangway_rtl_device device, gangway_rtl_module module,
                                gangway_rtl_kernel *list, size_t capacity)
{
  (void)device;
  return list_kernels(module, "prepare", list, capacity);
}

#if GANGWAY_RTL_VERSION_MINOR >= 1
size_t gangway_rtl_destructors(gangway_rtl_device device, gangway_rtl_module module, gangway_rtl_kernel *list,
                               size_t capacity)
{
  (void)device;
  return list_kernels(module, "finish", list, capacity);
}
#endif

#ifdef INDIRECT_CALLS
/* The image keeps the pairs in its global `indirect`, where its code would look them up. */
gangway_rtl_status gangway_rtl_indirect_calls(gangway_rtl_device device, gangway_rtl_module module,
                                              const gangway_rtl_indirect_call *pairs, size_t count,
                                              gangway_rtl_error *error)
{
  (void)device;
  for (size_t i = 0; i < module->global_count; i++)
    if (strcmp(module->globals[i].name, "indirect") == 0) {
      if (count > module->globals[i].size / sizeof *pairs)
        return null_fail(error, GANGWAY_RTL_FAILED, 22, "no room for the pairs in %s", "indirect");
      memcpy(module->globals[i].value, pairs, count * sizeof *pairs);
    }
  return GANGWAY_RTL_OK;
}
#endif

/* ---- Launch ---------------------------------------------------------------- */

#if defined OWN_ARGUMENTS || defined VISIBLE_TABLES
static void give_table(gangway_rtl_device device, struct argument_table *table)
{
  table->next = atomic_load(&device->tables);
  while (!atomic_compare_exchange_weak(&device->tables, &table->next, table))
    ;
}
#endif

#ifdef SESSIONS
/* What it keeps in a session. */
struct own_session {
  uint64_t started;
  struct argument_table *table;
};

/* Sessions that have started and not ended. */
static _Atomic long open_sessions;

static struct argument_table *take_table(gangway_rtl_device device)
{
  /* All of them at once: another thread's table is never looked into. */
  struct argument_table *table = atomic_exchange(&device->tables, NULL);
  if (!table) {
    atomic_fetch_add(&device->made_tables, 1);
    return calloc(1, sizeof *table);
  }
  for (struct argument_table *rest = table->next, *next; rest; rest = next) {
    next = rest->next;
    give_table(device, rest);
  }
  return table;
}

size_t gangway_rtl_session_size(gangway_rtl_device device)
{
  (void)device;
  return sizeof(struct own_session);
}

gangway_rtl_status gangway_rtl_session_start(gangway_rtl_device device, gangway_rtl_session *session,
                                             gangway_rtl_error *error)
{
  struct own_session *own = session->own;
  if (session->own_size != sizeof *own || own->started || own->table || session->words[0])
    return null_fail(error, GANGWAY_RTL_FAILED, 14, "a session that is not %s", "new");
  own->started = 1;
  atomic_fetch_add(&open_sessions, 1);
  null_note(device->ordinal, "session starts");
  return GANGWAY_RTL_OK;
}

void gangway_rtl_session_end(gangway_rtl_device device, gangway_rtl_session *session)
{
  struct own_session *own = session->own;
  if (own->table)
    give_table(device, own->table);
  atomic_fetch_sub(&open_sessions, (long)own->started);
  null_note(device->ordinal, "session ends");
}

__attribute__((destructor)) static void all_have_ended(void)
{
  long count = atomic_load(&open_sessions);
  if (count != 0) {
    fprintf(stderr, "null: %ld sessions have not ended\n", count);
    _Exit(97);
  }
}
#endif

#if defined OWN_ARGUMENTS || defined VISIBLE_TABLES
gangway_rtl_status gangway_rtl_argument_table(gangway_rtl_device device, gangway_rtl_session *session,
                                              uint32_t count, uint64_t **arguments, gangway_rtl_error *error)
{
  if (count > ARGUMENTS)
    return null_fail(error, GANGWAY_RTL_FAILED, 11, "%s", "too many arguments");
#ifdef SESSIONS
  struct argument_table *table = take_table(device);
  if (!table)
    return GANGWAY_RTL_OUT_OF_MEMORY;
  struct own_session *own = session->own;
  own->table = table;
#else
  /* The device owns the tables; a job that ends without a launch loses nothing. */
  struct argument_table *table = calloc(1, sizeof *table);
  if (!table)
    return GANGWAY_RTL_OUT_OF_MEMORY;
  give_table(device, table);
#endif
  session->words[0] = (uint64_t)(uintptr_t)table;
  *arguments = table->slots;
  return GANGWAY_RTL_OK;
}
#endif

#ifdef VISIBLE_TABLES
gangway_rtl_status gangway_rtl_kernel_table(gangway_rtl_device device, gangway_rtl_kernel kernel,
                                            gangway_rtl_session *session, uint32_t count, uint64_t **arguments,
                                            int32_t *visible, gangway_rtl_address *address,
                                            gangway_rtl_error *error)
{
  gangway_rtl_status status = gangway_rtl_argument_table(device, session, count, arguments, error);
  if (status != GANGWAY_RTL_OK)
    return status;
  *visible = kernel->properties.convention == GANGWAY_RTL_ARGUMENTS_DEVICE_TABLE;
  *address = (gangway_rtl_address)(uintptr_t)*arguments;
  return GANGWAY_RTL_OK;
}
#endif

#ifdef NOTICES
void gangway_rtl_host_range(gangway_rtl_device device, const void *begin, size_t size, int32_t change,
                            gangway_rtl_address address, gangway_rtl_stream stream)
{
  (void)begin, (void)address, (void)stream;
  /* A real one would pin the range, or register it. */
  if (change == GANGWAY_RTL_RANGE_MAPPED)
    atomic_fetch_add(&device->mapped, size);
  else if (change == GANGWAY_RTL_RANGE_UNMAPPED)
    atomic_fetch_sub(&device->mapped, size);
  null_note(device->ordinal, change == GANGWAY_RTL_RANGE_MAPPED ? "mapped" : "unmapped");
}
#endif

#ifndef WITHOUT_LAUNCH
gangway_rtl_status gangway_rtl_launch_kernel(gangway_rtl_device device, const gangway_rtl_launch *launch,
                                             gangway_rtl_session *session, gangway_rtl_error *error)
{
  null_note(device->ordinal, "launch");
  struct operation operation = {.kind = LAUNCH, .kernel = launch->kernel, .count = launch->argument_count};
  const char *name = launch->kernel->run == prepare || launch->kernel->run == finish ? "" : launch->kernel->name;
  if (launch->size < sizeof *launch || launch->name_length != strlen(name) ||
      memcmp(launch->name, name, launch->name_length) != 0)
    return null_fail(error, GANGWAY_RTL_FAILED, 12, "a launch that is not of %s", launch->kernel->name);
#ifdef OWN_ARGUMENTS
  struct argument_table *table = (struct argument_table *)(uintptr_t)session->words[0];
  if (!table || launch->arguments != table->slots)
    return null_fail(error, GANGWAY_RTL_FAILED, 13, "the arguments are not in %s", "the table");
  operation.arguments = table->slots;
#elif defined ASYNCHRONOUS
  /* The arguments are the caller's again once this has returned. */
#if GANGWAY_RTL_VERSION_MINOR >= 1
  size_t bytes = launch->argument_bytes;
#else
  size_t bytes = launch->argument_count * sizeof *launch->arguments;
#endif
  uint64_t *copy = malloc(bytes + 1);
  if (!copy)
    return GANGWAY_RTL_OUT_OF_MEMORY;
  memcpy(copy, launch->arguments, bytes);
  operation.arguments = copy;
  operation.owned = copy;
#else
  operation.arguments = launch->arguments;
#endif
  return submit(session->stream, &operation, error);
}
#endif
