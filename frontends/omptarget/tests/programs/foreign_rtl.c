/* A back end for interop objects: one asynchronous device with an "HSA" runtime
 * underneath, whose queues are numbers. It runs no images. A queue remembers
 * whether something is in it. */
#include <gangway/rtl.h>
#include <stdatomic.h>
#include <stdlib.h>

struct gangway_rtl_stream_s {
  int queue;
};

static int device_object, context_object;
/* For the program that tests this: how often a queue was waited for, and how many exist. */
GANGWAY_RTL_API atomic_int foreign_waits, foreign_queues;

static gangway_rtl_device the_device(void) { return (gangway_rtl_device)&device_object; }

uint32_t gangway_rtl_version(void) { return GANGWAY_RTL_VERSION; }
int32_t gangway_rtl_recognises(const void *image, size_t size) { return (void)image, (void)size, 0; }
uint32_t gangway_rtl_device_count(void) { return 1; }

gangway_rtl_status gangway_rtl_open(uint32_t ordinal, gangway_rtl_device *device, gangway_rtl_error *error) {
  (void)ordinal, (void)error;
  *device = the_device();
  return GANGWAY_RTL_OK;
}
void gangway_rtl_close(gangway_rtl_device device) { (void)device; }

uint64_t gangway_rtl_capabilities(gangway_rtl_device device) { return (void)device, GANGWAY_RTL_ASYNCHRONOUS; }

gangway_rtl_status gangway_rtl_create_stream(gangway_rtl_device device, gangway_rtl_stream *stream,
                                             gangway_rtl_error *error) {
  (void)device, (void)error;
  *stream = calloc(1, sizeof **stream);
  atomic_fetch_add(&foreign_queues, 1);
  return GANGWAY_RTL_OK;
}
gangway_rtl_status gangway_rtl_destroy_stream(gangway_rtl_device device, gangway_rtl_stream stream,
                                              gangway_rtl_error *error) {
  (void)device, (void)error;
  atomic_fetch_sub(&foreign_queues, 1);
  free(stream);
  return GANGWAY_RTL_OK;
}
gangway_rtl_status gangway_rtl_synchronize(gangway_rtl_device device, gangway_rtl_stream stream,
                                           gangway_rtl_error *error) {
  (void)device, (void)error;
  atomic_fetch_add(&foreign_waits, 1);
  stream->queue = 0;
  return GANGWAY_RTL_OK;
}

const char *gangway_rtl_architecture(gangway_rtl_device device) { return (void)device, "gfx90a"; }

gangway_rtl_status gangway_rtl_foreign_runtime(gangway_rtl_device device, gangway_rtl_foreign *foreign,
                                               gangway_rtl_error *error) {
  (void)error;
  foreign->kind = 7;   /* HSA */
  foreign->vendor = 1; /* AMD */
  foreign->has_device = 1;
  foreign->device = device;
  foreign->context = &context_object;
  return GANGWAY_RTL_OK;
}
void *gangway_rtl_foreign_stream(gangway_rtl_device device, gangway_rtl_stream stream) {
  return (void)device, &stream->queue;
}

/* What a device without images never has to do. */
static gangway_rtl_status no(void) { return GANGWAY_RTL_UNSUPPORTED; }
gangway_rtl_status gangway_rtl_load(gangway_rtl_device d, const void *i, size_t s, gangway_rtl_module *m,
                                    gangway_rtl_error *e) {
  return (void)d, (void)i, (void)s, (void)m, (void)e, no();
}
void gangway_rtl_unload(gangway_rtl_device d, gangway_rtl_module m) { (void)d, (void)m; }
gangway_rtl_status gangway_rtl_kernel_named(gangway_rtl_device d, gangway_rtl_module m, const char *n,
                                            gangway_rtl_kernel *k, gangway_rtl_error *e) {
  return (void)d, (void)m, (void)n, (void)k, (void)e, no();
}
gangway_rtl_status gangway_rtl_global_named(gangway_rtl_device d, gangway_rtl_module m, const char *n, size_t s,
                                            gangway_rtl_address *a, gangway_rtl_error *e) {
  return (void)d, (void)m, (void)n, (void)s, (void)a, (void)e, no();
}
gangway_rtl_status gangway_rtl_allocate(gangway_rtl_device d, size_t s, int32_t k,
                                        gangway_rtl_address *a, gangway_rtl_error *e) {
  return (void)d, (void)s, (void)k, (void)a, (void)e, no();
}
gangway_rtl_status gangway_rtl_deallocate(gangway_rtl_device d, gangway_rtl_address a,
                                          int32_t k, gangway_rtl_error *e) {
  return (void)d, (void)a, (void)k, (void)e, no();
}
gangway_rtl_status gangway_rtl_copy_to_device(gangway_rtl_device d, gangway_rtl_address t, const void *f, size_t s,
                                              gangway_rtl_stream st, gangway_rtl_error *e) {
  return (void)d, (void)t, (void)f, (void)s, (void)st, (void)e, no();
}
gangway_rtl_status gangway_rtl_copy_from_device(gangway_rtl_device d, void *t, gangway_rtl_address f, size_t s,
                                                gangway_rtl_stream st, gangway_rtl_error *e) {
  return (void)d, (void)t, (void)f, (void)s, (void)st, (void)e, no();
}
gangway_rtl_status gangway_rtl_launch_kernel(gangway_rtl_device d, const gangway_rtl_launch *l,
                                             gangway_rtl_session *s, gangway_rtl_error *e) {
  return (void)d, (void)l, (void)s, (void)e, no();
}
