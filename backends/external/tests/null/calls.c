/* Kernels of the null back end that call the host: directly, as they run in this process,
 * or with -DCHANNEL through a channel, as a device with memory of its own would. */
#include "null.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

/* All devices are served alike, except that each calls under its own number; the kernels
 * here do not care which. */
static const gangway_rtl_host_calls *_Atomic host_calls;

gangway_rtl_status gangway_rtl_connect_host_calls(gangway_rtl_device device, const gangway_rtl_host_calls *calls,
                                                  gangway_rtl_error *error)
{
  if (calls->size < sizeof *calls)
    return null_fail(error, GANGWAY_RTL_FAILED, 19, "%s", "no room for what serves host calls");
  atomic_store(&host_calls, calls);
  null_note(device->ordinal, "connect host calls");
  return GANGWAY_RTL_OK;
}

#ifdef CHANNEL
/* The channel, as device/host-channel has it. A port serves 32 lanes; threads here are one each. */
struct port {
  _Atomic uint32_t answered;
  uint32_t of_host[31];
  _Atomic uint32_t request, lanes;
  uint32_t of_device[30];
  _Atomic uint64_t function[32], size[32], address[32];
  _Atomic uint32_t outcome[32];
  _Atomic uint64_t words[16][32];
};
struct channel {
  _Atomic uint32_t doorbells[256], taken[8];
  uint32_t rest[24];
  struct port ports[256];
};
_Static_assert(sizeof(struct port) == 5248 && sizeof(struct channel) == 1152 + 256 * 5248, "as Gangway has it");
enum { BEGIN_AND_RUN = 4 };

gangway_rtl_status gangway_rtl_allocate_visible(gangway_rtl_device device, size_t size, void **host,
                                                gangway_rtl_address *address, gangway_rtl_error *error)
{
  size_t pages = (size + 4095) / 4096 * 4096;
  if (!(*host = aligned_alloc(4096, pages)))
    return null_fail(error, GANGWAY_RTL_OUT_OF_MEMORY, 0, "no memory for %s", "a channel");
  memset(*host, 0, pages);
  *address = (gangway_rtl_address)(uintptr_t)*host;
  null_note(device->ordinal, "allocate visible");
  return GANGWAY_RTL_OK;
}

gangway_rtl_status gangway_rtl_deallocate_visible(gangway_rtl_device device, void *host,
                                                  gangway_rtl_address address, gangway_rtl_error *error)
{
  (void)address, (void)error;
  free(host);
  null_note(device->ordinal, "free visible");
  return GANGWAY_RTL_OK;
}

/* The image's pointer to the channel, as Gangway has written it. */
static struct channel **channel_of_image;

static uint32_t call_host(uint64_t function, uint64_t *words, uint32_t count)
{
  struct channel *channel = *channel_of_image;
  uint32_t i = 0;
  while (atomic_fetch_or(&channel->taken[i / 32], 1u << i % 32) >> i % 32 & 1)
    i = (i + 1) % 256;
  struct port *port = &channel->ports[i];
  uint32_t lane = i % 32;
  port->function[lane] = function;
  port->size[lane] = count * sizeof *words;
  port->address[lane] = 0;
  port->lanes = 1u << lane;
  port->request = BEGIN_AND_RUN;
  for (uint32_t word = 0; word < count; word++)
    port->words[word][lane] = words[word];
  uint32_t turn = channel->doorbells[i] + 1;
  atomic_store(&channel->doorbells[i], turn);
  host_calls->ring(host_calls->context);
  while (atomic_load(&port->answered) != turn)
    sched_yield();
  for (uint32_t word = 0; word < count; word++)
    words[word] = port->words[word][lane];
  uint32_t outcome = port->outcome[lane];
  atomic_fetch_and(&channel->taken[i / 32], ~(1u << i % 32));
  return outcome;
}
#else
static uint32_t call_host(uint64_t function, uint64_t *words, uint32_t count)
{
  const gangway_rtl_host_calls *calls = atomic_load(&host_calls);
  return calls->call(calls->context, function, words, count * sizeof *words);
}
#endif

gangway_rtl_status gangway_rtl_host_call_link(gangway_rtl_device device, gangway_rtl_module module,
                                              int32_t *link, gangway_rtl_address *global,
                                              gangway_rtl_error *error)
{
  (void)device, (void)global, (void)error;
  for (size_t i = 0; i < module->kernel_count; i++)
    if (strcmp(module->kernels[i]->name, "ask") == 0)
      *link = GANGWAY_RTL_LINK_OWN;
#ifdef CHANNEL
  for (size_t i = 0; i < module->global_count; i++)
    if (strcmp(module->globals[i].name, "channel") == 0) {
      channel_of_image = (struct channel **)(void *)module->globals[i].value;
      *link = GANGWAY_RTL_LINK_GLOBAL;
      *global = (gangway_rtl_address)(uintptr_t)channel_of_image;
    }
#endif
  return GANGWAY_RTL_OK;
}

/* One thread of a kernel: what it asks, how often, and the sum of the answers. */
struct asker {
  pthread_t thread;
  uint64_t function, number, calls, sum;
  uint32_t outcome;
};

static void *ask_on(void *argument)
{
  struct asker *asker = argument;
  for (uint64_t i = 0; i < asker->calls && asker->outcome == GANGWAY_RTL_CALL_ANSWERED; i++) {
    uint64_t words[2] = {asker->number, i};
    asker->outcome = call_host(asker->function, words, 2);
    asker->sum += words[0];
  }
  return NULL;
}

/* ask(uint64_t *sums, uint64_t function, uint64_t threads, uint64_t calls) */
gangway_rtl_status null_ask(uint32_t count, const uint64_t *arguments, gangway_rtl_error *error)
{
  if (count != 4)
    return null_fail(error, GANGWAY_RTL_FAILED, 20, "%s takes 4 arguments", "ask");
  uint64_t *sums = (uint64_t *)null_pointer(arguments[0]);
  uint64_t threads = arguments[2], started = 0;
  gangway_rtl_status status = GANGWAY_RTL_OK;
  struct asker *askers = calloc(threads, sizeof *askers);
  for (; started < threads; started++) {
    askers[started] = (struct asker){.function = arguments[1], .number = started, .calls = arguments[3]};
    if (pthread_create(&askers[started].thread, NULL, ask_on, &askers[started]) != 0) {
      status = null_fail(error, GANGWAY_RTL_FAILED, 21, "no thread for %s", "the kernel");
      break;
    }
  }
  for (uint64_t i = 0; i < started; i++) {
    pthread_join(askers[i].thread, NULL);
    sums[i] = askers[i].sum;
    if (askers[i].outcome != GANGWAY_RTL_CALL_ANSWERED)
      status = null_fail(error, GANGWAY_RTL_FAILED, 100 + askers[i].outcome, "a host call of %s failed", "ask");
  }
  free(askers);
  return status;
}
