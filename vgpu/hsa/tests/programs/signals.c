// Signals: values, waits, groups, handlers, many threads; wrong arguments included.
#include "hsa_api.h"

#include <pthread.h>
#include <time.h>
#include <unistd.h>

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

#define CHANGES(name) name(signal, 6); CHECK(hsa_signal_load_scacquire(signal) == wanted); hsa_signal_store_relaxed(signal, 12);
#define SWAPS(name) CHECK(name(signal, 6) == 12 && hsa_signal_load_relaxed(signal) == 6); hsa_signal_store_release(signal, 12);
#define COMPARES(name)                                                     \
  CHECK(name(signal, 11, 6) == 12 && hsa_signal_load_acquire(signal) == 12); \
  CHECK(name(signal, 12, 6) == 12 && hsa_signal_load_acquire(signal) == 6); \
  hsa_signal_store_screlease(signal, 12);

static void values(void) {
  hsa_signal_t signal = new_signal(12);
  int64_t wanted = 18;
  ORDERS(CHANGES, hsa_signal_add)
  wanted = 6;
  ORDERS(CHANGES, hsa_signal_subtract)
  wanted = 12 & 6;
  ORDERS(CHANGES, hsa_signal_and)
  wanted = 12 | 6;
  ORDERS(CHANGES, hsa_signal_or)
  wanted = 12 ^ 6;
  ORDERS(CHANGES, hsa_signal_xor)
  ORDERS(SWAPS, hsa_signal_exchange)
  ORDERS(COMPARES, hsa_signal_cas)
  hsa_signal_silent_store_relaxed(signal, -5);
  CHECK(hsa_signal_load_relaxed(signal) == -5);
  hsa_signal_silent_store_screlease(signal, INT64_MIN);
  CHECK(hsa_signal_load_relaxed(signal) == INT64_MIN);
  volatile int64_t *place;
  OK(hsa_amd_signal_value_pointer(signal, &place));
  *place = 3;
  CHECK(hsa_signal_load_scacquire(signal) == 3);
  OK(hsa_signal_destroy(signal));
  // What has been destroyed is no signal any more.
  ANSWERS(INVALID_SIGNAL, hsa_signal_destroy(signal));
  CHECK(hsa_signal_load_relaxed(signal) == 0 && hsa_signal_wait_relaxed(signal, EQ, 5, ~0ull, 0) == 0);
  hsa_signal_store_relaxed(signal, 7);
  CHECK(hsa_signal_load_relaxed(signal) == 0);
}

static void wrong(void) {
  hsa_signal_t signal;
  hsa_agent_t twice[2] = {gpu, gpu};
  ANSWERS(INVALID_ARGUMENT, hsa_signal_create(0, 0, NULL, NULL));
  ANSWERS(INVALID_ARGUMENT, hsa_signal_create(0, 1, NULL, &signal));
  ANSWERS(INVALID_ARGUMENT, hsa_signal_create(0, 2, twice, &signal));
  ANSWERS(INVALID_AGENT, hsa_signal_create(0, 1, &NONE[1], &signal));
  ANSWERS(ERROR, hsa_amd_signal_create(0, 0, NULL, 2, &signal));
  ANSWERS(INVALID_ARGUMENT, hsa_signal_destroy(NONE[0]));
  for (unsigned at = 1; at < NONES; ++at) ANSWERS(INVALID_SIGNAL, hsa_signal_destroy(NONE[at]));
  OK(hsa_amd_signal_create(4, 1, &cpu, 1, &signal));
  ANSWERS(INVALID_SIGNAL, hsa_signal_destroy((hsa_signal_t){signal.handle + 8}));
  ANSWERS(INVALID_ARGUMENT, hsa_amd_signal_async_handler(signal, 4, 0, NULL, NULL));
  ANSWERS(INVALID_ARGUMENT, hsa_amd_async_function(NULL, NULL));
  CHECK(hsa_signal_wait_relaxed(signal, 77, 5, ~0ull, 0) == 0);
  OK(hsa_signal_destroy(signal));
}

static void *store_later(void *data) {
  usleep(20000);
  hsa_signal_store_screlease(*(hsa_signal_t *)data, 5);
  return NULL;
}

static void *write_later(void *data) {
  usleep(20000);
  *(volatile int64_t *)data = 6;
  return NULL;
}

static void waits(void) {
  hsa_signal_t signal = new_signal(1);
  CHECK(hsa_signal_wait_scacquire(signal, EQ, 1, ~0ull, 0) == 1);
  CHECK(hsa_signal_wait_acquire(signal, NE, 2, ~0ull, 1) == 1);
  CHECK(hsa_signal_wait_relaxed(signal, GTE, 1, ~0ull, 0) == 1);
  double begin = now();
  CHECK(hsa_signal_wait_scacquire(signal, LT, 1, 30000000, 0) == 1);
  double taken = now() - begin;
  CHECK(taken >= 0.03 && taken < 5);
  pthread_t thread;
  pthread_create(&thread, NULL, store_later, &signal);
  CHECK(hsa_signal_wait_scacquire(signal, EQ, 5, ~0ull, 0) == 5);
  pthread_join(thread, NULL);
  // As a kernel without interrupts does it.
  volatile int64_t *place;
  OK(hsa_amd_signal_value_pointer(signal, &place));
  pthread_create(&thread, NULL, write_later, (void *)place);
  CHECK(hsa_signal_wait_scacquire(signal, EQ, 6, ~0ull, 0) == 6);
  pthread_join(thread, NULL);
  OK(hsa_signal_destroy(signal));
}

static void groups(void) {
  hsa_signal_t signals[3] = {new_signal(1), new_signal(1), new_signal(1)}, found;
  uint32_t conditions[3] = {EQ, EQ, EQ};
  int64_t wanted[3] = {0, 5, 0}, value = 0, seen[3];
  hsa_signal_group_t group;
  OK(hsa_signal_group_create(3, signals, 1, &cpu, &group));
  pthread_t thread;
  pthread_create(&thread, NULL, store_later, &signals[1]);
  OK(hsa_signal_group_wait_any_scacquire(group, conditions, wanted, 0, &found, &value));
  CHECK(found.handle == signals[1].handle && value == 5);
  pthread_join(thread, NULL);
  OK(hsa_signal_group_wait_any_relaxed(group, conditions, wanted, 0, &found, &value));
  ANSWERS(INVALID_ARGUMENT, hsa_signal_group_wait_any_relaxed(group, NULL, wanted, 0, &found, &value));
  ANSWERS(INVALID_ARGUMENT, hsa_signal_group_wait_any_relaxed(group, conditions, wanted, 0, NULL, &value));
  CHECK(hsa_amd_signal_wait_any(3, signals, conditions, wanted, ~0ull, 0, &value) == 1 && value == 5);
  CHECK(hsa_amd_signal_wait_any(1, signals, conditions, wanted, 1000000, 0, NULL) == UINT32_MAX);
  CHECK(hsa_amd_signal_wait_all(3, signals, conditions, wanted, 1000000, 0, seen) == UINT32_MAX);
  hsa_signal_store_relaxed(signals[0], 0);
  hsa_signal_store_relaxed(signals[2], 0);
  CHECK(hsa_amd_signal_wait_all(3, signals, conditions, wanted, ~0ull, 0, seen) == 0 && seen[1] == 5);
  ANSWERS(INVALID_ARGUMENT, hsa_signal_group_create(0, signals, 0, NULL, &group));
  ANSWERS(INVALID_SIGNAL, hsa_signal_group_create(1, NONE, 0, NULL, &group));
  OK(hsa_signal_group_destroy(group));
  ANSWERS(INVALID_SIGNAL_GROUP, hsa_signal_group_destroy(group));
  ANSWERS(INVALID_ARGUMENT, hsa_signal_group_destroy(NONE[0]));
  for (int at = 0; at < 3; ++at) OK(hsa_signal_destroy(signals[at]));
}

static _Atomic int called;
static hsa_signal_t handled;

static bool handler(int64_t value, void *data) {
  CHECK(value >= 10 && data == &called);
  hsa_signal_store_relaxed(handled, 0);
  return atomic_fetch_add(&called, 1) < 2;
}

static void function(void *data) { hsa_signal_store_screlease(*(hsa_signal_t *)data, 99); }

static void handlers(void) {
  handled = new_signal(0);
  OK(hsa_amd_signal_async_handler(handled, GTE, 10, handler, &called));
  for (int round = 0; round < 3; ++round) {
    hsa_signal_store_relaxed(handled, 10 + round);
    while (atomic_load(&called) <= round) usleep(100);
    CHECK(hsa_signal_wait_scacquire(handled, EQ, 0, ~0ull, 0) == 0);
  }
  hsa_signal_store_relaxed(handled, 10);
  usleep(20000);
  CHECK(atomic_load(&called) == 3 && hsa_signal_load_relaxed(handled) == 10);
  OK(hsa_amd_async_function(function, &handled));
  CHECK(hsa_signal_wait_scacquire(handled, EQ, 99, ~0ull, 0) == 99);
  OK(hsa_signal_destroy(handled));
}

static hsa_signal_t ball[2];

static void *player(void *data) {
  int me = (int)(intptr_t)data;
  for (int64_t round = 1; round <= 2000; ++round) {
    hsa_signal_wait_scacquire(ball[me], EQ, round, ~0ull, 0);
    hsa_signal_store_screlease(ball[1 - me], round + me);
  }
  return NULL;
}

static void *maker(void *data) {
  (void)data;
  hsa_signal_t own[16];
  for (int round = 0; round < 500; ++round) {
    for (int at = 0; at < 16; ++at) own[at] = new_signal(at);
    for (int at = 0; at < 16; ++at) {
      hsa_signal_add_scacq_screl(own[at], 1);
      CHECK(hsa_signal_load_relaxed(own[at]) == at + 1);
      OK(hsa_signal_destroy(own[at]));
    }
  }
  return NULL;
}

static void threads(void) {
  ball[0] = new_signal(1), ball[1] = new_signal(0);
  pthread_t thread[10];
  for (intptr_t at = 0; at < 2; ++at) pthread_create(&thread[at], NULL, player, (void *)at);
  for (int at = 2; at < 10; ++at) pthread_create(&thread[at], NULL, maker, NULL);
  for (int at = 0; at < 10; ++at) pthread_join(thread[at], NULL);
  OK(hsa_signal_destroy(ball[0]));
  OK(hsa_signal_destroy(ball[1]));
}

int main(void) {
  start();
  values();
  wrong();
  waits();
  groups();
  handlers();
  threads();
  OK(hsa_shut_down());
  return 0;
}
