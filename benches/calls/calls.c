/* How fast code on a device calls the host: calls WAY CALLERS, where the way is `slot` (slot.h) or
 * `channel`, which is gangway/host_call.h. With `idle` or `running` it is what the threads that look for calls take of
 * a second in which no kernel runs, or one that does not call. One caller's figure is the time of a call and its
 * answer; that of more callers is the time of all their calls divided by their number. Answers
 * are checked. */
#define _GNU_SOURCE
#include "../programs/bench.h"
#include <gangway/host_call.h>

#include <dirent.h>
#include <omp.h>
#include <string.h>
#include <unistd.h>

#include "slot.h"

enum { ROUNDS = 5, THREADS = 128 };

static void twice(void *block, size_t size) {
  long *number = block;
  *number = *number * 2 + (long)(size / sizeof *number);
}
GANGWAY_HOST_FUNCTION(twice);

/* What a case has. */
typedef struct {
  struct slot *slot;
  long callers, wrong;
} job;

#pragma omp begin declare target
static int call_slot(struct slot *slot, long number) {
  long block = number;
  return slot_call(slot, &block) && block != number * 2 + 1;
}

static int call_channel(long number) {
  long block = number;
  int outcome = GANGWAY_HOST_CALL(twice, &block, sizeof block);
  return outcome != GANGWAY_HOST_CALL_DONE || block != number * 2 + 1;
}
#pragma omp end declare target

static void one_by_slot(void *context, long count) {
  struct slot *slot = ((job *)context)->slot;
  long wrong = 0;
#pragma omp target map(tofrom : wrong) is_device_ptr(slot)
  for (long i = 0; i < count; ++i)
    wrong += call_slot(slot, i);
  ((job *)context)->wrong += wrong;
}

static void one_by_channel(void *context, long count) {
  long wrong = 0;
#pragma omp target map(tofrom : wrong)
  for (long i = 0; i < count; ++i)
    wrong += call_channel(i);
  ((job *)context)->wrong += wrong;
}

static void many_by_slot(void *context, long count) {
  struct slot *slot = ((job *)context)->slot;
  long callers = ((job *)context)->callers, wrong = 0;
#pragma omp target teams distribute parallel for map(tofrom : wrong) is_device_ptr(slot)           \
    num_teams((callers + THREADS - 1) / THREADS) thread_limit(THREADS) reduction(+ : wrong)
  for (long i = 0; i < callers; ++i)
    for (long repeat = 0; repeat < count && !slot_is_over(slot); ++repeat)
      wrong += call_slot(slot, i + repeat);
  ((job *)context)->wrong += wrong;
}

static void many_by_channel(void *context, long count) {
  long callers = ((job *)context)->callers, wrong = 0;
#pragma omp target teams distribute parallel for map(tofrom : wrong)                               \
    num_teams((callers + THREADS - 1) / THREADS) thread_limit(THREADS) reduction(+ : wrong)
  for (long i = 0; i < callers; ++i)
    for (long repeat = 0; repeat < count; ++repeat)
      wrong += call_channel(i + repeat);
  ((job *)context)->wrong += wrong;
}

/* One round of the slot, for no longer than it is served. */
static void measure_slot(job *job) {
  enum { REPEATS = 1 << 16 };
  slot_server.served = 0;
  double start = now_ns();
  slot_server.until_ns = start + SLOT_SECONDS * 1e9;
  many_by_slot(job, REPEATS);
  double sample = (now_ns() - start) / (double)slot_server.served;
  print_samples(&sample, 1);
}

/* So many calls of each caller that a round takes a while, if they are few. */
static void measure_channel(job *job) {
  long count = 1;
  double samples[ROUNDS], first = batch_ns(many_by_channel, job, count);
  while (first < 2e7 && count < 1024) {
    count *= 4;
    first = batch_ns(many_by_channel, job, count);
  }
  for (int round = 0; round < ROUNDS; ++round) {
    samples[round] = batch_ns(many_by_channel, job, count) / ((double)count * (double)job->callers);
  }
  print_samples(samples, ROUNDS);
}

/* Nanoseconds that the threads have run which look for calls. */
static double looked_ns(void) {
  double sum = 0;
  DIR *tasks = opendir("/proc/self/task");
  require(tasks != NULL, "the system does not tell of threads");
  for (struct dirent *task; (task = readdir(tasks));) {
    char path[sizeof task->d_name + 32], text[64] = "";
    const char *files[] = {"comm", "schedstat"};
    for (int which = 0; which < 2; ++which) {
      snprintf(path, sizeof path, "/proc/self/task/%s/%s", task->d_name, files[which]);
      FILE *file = fopen(path, "r");
      int read = file && fgets(text, sizeof text, file);
      if (file)
        fclose(file);
      if (!read || (which == 0 && strncmp(text, "gangway-calls", strlen("gangway-calls"))))
        break;
      if (which == 1)
        sum += atof(text);
    }
  }
  closedir(tasks);
  return sum;
}

/* A kernel that does not call, for about a second. */
static void run_a_while(long steps) {
  double sum = 0;
#pragma omp target map(tofrom : sum)
  for (long i = 0; i < steps; ++i)
    sum += (double)i * 0.5;
  require(sum >= 0, "a sum is wrong");
}

static void measure_looking(int running) {
  double took = 0;
  long steps = 1 << 20;
  for (; running && took < 1e9; steps *= 2) {
    double start = now_ns();
    run_a_while(steps);
    took = now_ns() - start;
  }
  usleep(500000);
  double start = now_ns(), before = looked_ns();
  if (running)
    run_a_while(steps);
  else
    sleep(2);
  double sample = (looked_ns() - before) / (now_ns() - start) * 1e9;
  print_samples(&sample, 1);
}

int main(int argc, char **argv) {
  if (argc != 3)
    return fprintf(stderr, "usage: calls slot|channel|idle|running CALLERS\n"), 2;
  job job = {.callers = atol(argv[2])};
  int by_slot = !strcmp(argv[1], "slot");
  int on_host = 1;
#pragma omp target map(from : on_host)
  on_host = omp_is_initial_device();
  require(!on_host && job.callers > 0, "the regions run on the host, or there is no caller");
  if (by_slot)
    job.slot = slot_serve(twice);
  int running = !strcmp(argv[1], "running");
  if (running || !strcmp(argv[1], "idle"))
    measure_looking(running);
  else if (job.callers == 1)
    measure(by_slot ? one_by_slot : one_by_channel, &job);
  else if (by_slot)
    measure_slot(&job);
  else
    measure_channel(&job);
  if (by_slot)
    slot_end(job.slot);
  require(job.wrong == 0, "calls have wrong answers");
  return 0;
}
