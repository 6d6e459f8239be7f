/* Streams and events of the null back end: a stream is a queue with a thread. */
#include "null.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct node {
  struct node *next;
  struct operation operation;
};

struct gangway_rtl_stream_s {
  pthread_mutex_t mutex;
  pthread_cond_t changed;
  pthread_t thread;
  struct node *first, *last;
  uint64_t submitted, done;
  int closing;
  /* The first failure since the last synchronisation. */
  gangway_rtl_status status;
  gangway_rtl_error error;
};

/* A point in a stream. Streams are not destroyed before the waits for them are
 * over; events may be, so each wait holds a reference. */
struct gangway_rtl_event_s {
  gangway_rtl_stream stream;
  uint64_t point;
  _Atomic int references;
};

static void release(gangway_rtl_event event)
{
  if (atomic_fetch_sub(&event->references, 1) == 1)
    free(event);
}

static void wait_until(gangway_rtl_stream stream, uint64_t point)
{
  pthread_mutex_lock(&stream->mutex);
  while (stream->done < point)
    pthread_cond_wait(&stream->changed, &stream->mutex);
  pthread_mutex_unlock(&stream->mutex);
}

static void *work(void *argument)
{
  gangway_rtl_stream stream = argument;
  pthread_mutex_lock(&stream->mutex);
  for (;;) {
    while (!stream->first && !stream->closing)
      pthread_cond_wait(&stream->changed, &stream->mutex);
    struct node *node = stream->first;
    if (!node)
      break;
    stream->first = node->next;
    pthread_mutex_unlock(&stream->mutex);

    gangway_rtl_error error = {0};
    gangway_rtl_status status = GANGWAY_RTL_OK;
    if (node->operation.kind == WAIT) {
      wait_until(node->operation.event->stream, node->operation.event->point);
      release(node->operation.event);
    } else if (node->operation.kind == RELEASE) {
      status = node->operation.release(&node->operation, &error);
    } else if (node->operation.kind == TELL) {
      node->operation.tell(node->operation.context);
    } else {
      status = null_perform(&node->operation, &error);
    }
    free(node->operation.owned);
    free(node);

    pthread_mutex_lock(&stream->mutex);
    stream->done++;
    if (status != GANGWAY_RTL_OK && stream->status == GANGWAY_RTL_OK) {
      stream->status = status;
      stream->error = error;
    }
    pthread_cond_broadcast(&stream->changed);
  }
  pthread_mutex_unlock(&stream->mutex);
  return NULL;
}

gangway_rtl_status null_enqueue(gangway_rtl_stream stream, const struct operation *operation,
                                gangway_rtl_error *error)
{
  struct node *node = calloc(1, sizeof *node);
  if (!node)
    return null_fail(error, GANGWAY_RTL_FAILED, 0, "no memory for %s", "an operation");
  node->operation = *operation;
  pthread_mutex_lock(&stream->mutex);
  if (stream->first)
    stream->last->next = node;
  else
    stream->first = node;
  stream->last = node;
  stream->submitted++;
  pthread_cond_broadcast(&stream->changed);
  pthread_mutex_unlock(&stream->mutex);
  return GANGWAY_RTL_OK;
}

gangway_rtl_status gangway_rtl_create_stream(gangway_rtl_device device, gangway_rtl_stream *stream,
                                             gangway_rtl_error *error)
{
  struct gangway_rtl_stream_s *made = calloc(1, sizeof *made);
  if (!made)
    return null_fail(error, GANGWAY_RTL_FAILED, 0, "no memory for %s", "a stream");
  pthread_mutex_init(&made->mutex, NULL);
  pthread_cond_init(&made->changed, NULL);
  if (pthread_create(&made->thread, NULL, work, made) != 0) {
    free(made);
    return null_fail(error, GANGWAY_RTL_FAILED, 0, "no thread for %s", "a stream");
  }
  *stream = made;
  null_note(device->ordinal, "create stream");
  return GANGWAY_RTL_OK;
}

gangway_rtl_status gangway_rtl_destroy_stream(gangway_rtl_device device, gangway_rtl_stream stream,
                                              gangway_rtl_error *error)
{
  (void)error;
  null_note(device->ordinal, "destroy stream");
  pthread_mutex_lock(&stream->mutex);
  stream->closing = 1;
  pthread_cond_broadcast(&stream->changed);
  pthread_mutex_unlock(&stream->mutex);
  pthread_join(stream->thread, NULL);
  pthread_cond_destroy(&stream->changed);
  pthread_mutex_destroy(&stream->mutex);
  free(stream);
  return GANGWAY_RTL_OK;
}

gangway_rtl_status gangway_rtl_synchronize(gangway_rtl_device device, gangway_rtl_stream stream,
                                           gangway_rtl_error *error)
{
  (void)device;
  pthread_mutex_lock(&stream->mutex);
  uint64_t point = stream->submitted;
  while (stream->done < point)
    pthread_cond_wait(&stream->changed, &stream->mutex);
  gangway_rtl_status status = stream->status;
  *error = stream->error;
  stream->status = GANGWAY_RTL_OK;
  memset(&stream->error, 0, sizeof stream->error);
  pthread_mutex_unlock(&stream->mutex);
  return status;
}

#ifndef MANDATORY_ONLY
gangway_rtl_status gangway_rtl_is_idle(gangway_rtl_device device, gangway_rtl_stream stream, int32_t *idle,
                                       gangway_rtl_error *error)
{
  (void)device, (void)error;
  pthread_mutex_lock(&stream->mutex);
  *idle = stream->done == stream->submitted;
  pthread_mutex_unlock(&stream->mutex);
  return GANGWAY_RTL_OK;
}

gangway_rtl_status gangway_rtl_record_event(gangway_rtl_device device, gangway_rtl_stream stream,
                                            gangway_rtl_event *event, gangway_rtl_error *error)
{
  struct gangway_rtl_event_s *made = calloc(1, sizeof *made);
  if (!made)
    return null_fail(error, GANGWAY_RTL_FAILED, 0, "no memory for %s", "an event");
  made->stream = stream;
  made->references = 1;
  pthread_mutex_lock(&stream->mutex);
  made->point = stream->submitted;
  pthread_mutex_unlock(&stream->mutex);
  *event = made;
  null_note(device->ordinal, "record event");
  return GANGWAY_RTL_OK;
}

gangway_rtl_status gangway_rtl_wait_event(gangway_rtl_device device, gangway_rtl_stream stream,
                                          gangway_rtl_event event, gangway_rtl_error *error)
{
  (void)device;
  struct operation wait = {.kind = WAIT, .event = event};
  atomic_fetch_add(&event->references, 1);
  gangway_rtl_status status = null_enqueue(stream, &wait, error);
  if (status != GANGWAY_RTL_OK)
    release(event);
  return status;
}

#ifdef STREAM_ORDERED
gangway_rtl_status gangway_rtl_allocate_in_stream(gangway_rtl_device device, size_t size,
                                                  gangway_rtl_stream stream, gangway_rtl_address *address,
                                                  gangway_rtl_error *error)
{
  (void)stream;
  null_note(device->ordinal, "allocate in stream");
  return gangway_rtl_allocate(device, size, GANGWAY_RTL_MEMORY_DEVICE, address, error);
}

static gangway_rtl_status free_now(const struct operation *operation, gangway_rtl_error *error)
{
  gangway_rtl_address address = (gangway_rtl_address)(uintptr_t)operation->to;
  return gangway_rtl_deallocate(operation->device, address, GANGWAY_RTL_MEMORY_DEVICE, error);
}

gangway_rtl_status gangway_rtl_deallocate_in_stream(gangway_rtl_device device, gangway_rtl_address address,
                                                    gangway_rtl_stream stream, gangway_rtl_error *error)
{
  struct operation release = {
      .kind = RELEASE, .device = device, .to = null_pointer(address), .release = free_now};
  null_note(device->ordinal, "free in stream");
  return null_enqueue(stream, &release, error);
}
#endif

#if GANGWAY_RTL_VERSION_MINOR >= 1
gangway_rtl_status gangway_rtl_on_complete(gangway_rtl_device device, gangway_rtl_stream stream,
                                           void (*function)(void *context), void *context,
                                           gangway_rtl_error *error)
{
  struct operation tell = {.kind = TELL, .tell = function, .context = context};
  null_note(device->ordinal, "on complete");
  return null_enqueue(stream, &tell, error);
}
#endif

gangway_rtl_status gangway_rtl_destroy_event(gangway_rtl_device device, gangway_rtl_event event,
                                             gangway_rtl_error *error)
{
  (void)error;
  null_note(device->ordinal, "destroy event");
  release(event);
  return GANGWAY_RTL_OK;
}
#endif
