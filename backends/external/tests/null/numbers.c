/* A back end whose handles are numbers: all of them are 0. It is asynchronous, and does
 * everything at once. -DFLAGS=n sets flags of its capabilities. */
#include <gangway/rtl.h>
#include <stdlib.h>
#include <string.h>

#ifndef FLAGS
#define FLAGS GANGWAY_RTL_ASYNCHRONOUS
#endif

uint32_t gangway_rtl_version(void) { return GANGWAY_RTL_VERSION; }
uint32_t gangway_rtl_device_count(void) { return 1; }
uint64_t gangway_rtl_capabilities(gangway_rtl_device device) { return device ? 0 : FLAGS; }

int gangway_rtl_recognises(const void *image, size_t size) { return size > 0 && *(const char *)image == 'N'; }

gangway_rtl_status gangway_rtl_open(uint32_t ordinal, gangway_rtl_device *device, gangway_rtl_error *error)
{
  (void)ordinal, (void)error;
  *device = 0;
  return GANGWAY_RTL_OK;
}

void gangway_rtl_close(gangway_rtl_device device) { (void)device; }

gangway_rtl_status gangway_rtl_load(gangway_rtl_device device, const void *image, size_t size,
                                    gangway_rtl_module *module, gangway_rtl_error *error)
{
  (void)device, (void)image, (void)size, (void)error;
  *module = 0;
  return GANGWAY_RTL_OK;
}

void gangway_rtl_unload(gangway_rtl_device device, gangway_rtl_module module) { (void)device, (void)module; }

gangway_rtl_status gangway_rtl_kernel_named(gangway_rtl_device device, gangway_rtl_module module,
                                            const char *name, gangway_rtl_kernel *kernel,
                                            gangway_rtl_error *error)
{
  (void)device, (void)module, (void)error;
  *kernel = 0;
  return strcmp(name, "double") == 0 ? GANGWAY_RTL_OK : GANGWAY_RTL_NO_SUCH_SYMBOL;
}

gangway_rtl_status gangway_rtl_global_named(gangway_rtl_device device, gangway_rtl_module module,
                                            const char *name, size_t size, gangway_rtl_address *address,
                                            gangway_rtl_error *error)
{
  (void)device, (void)module, (void)name, (void)size, (void)address, (void)error;
  return GANGWAY_RTL_NO_SUCH_SYMBOL;
}

/* Its memory is an array, and its addresses are distances from the beginning. */
static char memory[1 << 16];
static size_t used;

gangway_rtl_status gangway_rtl_allocate(gangway_rtl_device device, size_t size, int32_t kind,
                                        gangway_rtl_address *address, gangway_rtl_error *error)
{
  (void)device, (void)kind, (void)error;
  size_t room = (size + 255) / 256 * 256;
  if (room > sizeof memory - used)
    return GANGWAY_RTL_OUT_OF_MEMORY;
  *address = used;
  used += room;
  return GANGWAY_RTL_OK;
}

gangway_rtl_status gangway_rtl_deallocate(gangway_rtl_device device, gangway_rtl_address address, int32_t kind,
                                          gangway_rtl_error *error)
{
  (void)device, (void)address, (void)kind, (void)error;
  return GANGWAY_RTL_OK;
}

gangway_rtl_status gangway_rtl_copy_to_device(gangway_rtl_device device, gangway_rtl_address to,
                                              const void *from, size_t size, gangway_rtl_stream stream,
                                              gangway_rtl_error *error)
{
  (void)error;
  memcpy(memory + to, from, size);
  return device || stream ? GANGWAY_RTL_FAILED : GANGWAY_RTL_OK;
}

gangway_rtl_status gangway_rtl_copy_from_device(gangway_rtl_device device, void *to, gangway_rtl_address from,
                                                size_t size, gangway_rtl_stream stream,
                                                gangway_rtl_error *error)
{
  (void)error;
  memcpy(to, memory + from, size);
  return device || stream ? GANGWAY_RTL_FAILED : GANGWAY_RTL_OK;
}

/* double(uint64_t *value) */
gangway_rtl_status gangway_rtl_launch_kernel(gangway_rtl_device device, const gangway_rtl_launch *launch,
                                             gangway_rtl_session *session, gangway_rtl_error *error)
{
  (void)error;
  uint64_t value;
  memcpy(&value, memory + launch->arguments[0], sizeof value);
  value *= 2;
  memcpy(memory + launch->arguments[0], &value, sizeof value);
  return device || launch->kernel || session->stream ? GANGWAY_RTL_FAILED : GANGWAY_RTL_OK;
}

gangway_rtl_status gangway_rtl_create_stream(gangway_rtl_device device, gangway_rtl_stream *stream,
                                             gangway_rtl_error *error)
{
  (void)device, (void)error;
  *stream = 0;
  return GANGWAY_RTL_OK;
}

gangway_rtl_status gangway_rtl_destroy_stream(gangway_rtl_device device, gangway_rtl_stream stream,
                                              gangway_rtl_error *error)
{
  (void)device, (void)error;
  return stream ? GANGWAY_RTL_FAILED : GANGWAY_RTL_OK;
}

gangway_rtl_status gangway_rtl_synchronize(gangway_rtl_device device, gangway_rtl_stream stream,
                                           gangway_rtl_error *error)
{
  (void)device, (void)error;
  return stream ? GANGWAY_RTL_FAILED : GANGWAY_RTL_OK;
}

gangway_rtl_status gangway_rtl_record_event(gangway_rtl_device device, gangway_rtl_stream stream,
                                            gangway_rtl_event *event, gangway_rtl_error *error)
{
  (void)device, (void)error;
  *event = 0;
  return stream ? GANGWAY_RTL_FAILED : GANGWAY_RTL_OK;
}

gangway_rtl_status gangway_rtl_wait_event(gangway_rtl_device device, gangway_rtl_stream stream,
                                          gangway_rtl_event event, gangway_rtl_error *error)
{
  (void)device, (void)error;
  return stream || event ? GANGWAY_RTL_FAILED : GANGWAY_RTL_OK;
}

gangway_rtl_status gangway_rtl_destroy_event(gangway_rtl_device device, gangway_rtl_event event,
                                             gangway_rtl_error *error)
{
  (void)device, (void)error;
  return event ? GANGWAY_RTL_FAILED : GANGWAY_RTL_OK;
}

/* HSA by AMD, whose platform is 0 and which has no context, unless CONTEXT says that it has. */
gangway_rtl_status gangway_rtl_foreign_runtime(gangway_rtl_device device, gangway_rtl_foreign *foreign,
                                               gangway_rtl_error *error)
{
  (void)device, (void)error;
  foreign->kind = 7;
  foreign->vendor = 1;
  foreign->handles = GANGWAY_RTL_FOREIGN_PLATFORM;
#ifdef CONTEXT
  foreign->context = (void *)CONTEXT;
#endif
  return GANGWAY_RTL_OK;
}
