/* A program as GCC 13 and newer make it of regions of device(ancestor: 1), written by hand. */
#include "check.h"
#include "reverse_code.h"
#include <dirent.h>
#include <omp.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NVPTX 5
#define HOST_FALLBACK (-2)
#define REVERSE_OFFLOAD 0x80
#define TARGET_USED 0x200

enum { ALLOC = 0x300, TOFROM = 0x303, FIRSTPRIVATE_INT = 13 };

extern void GOMP_offload_register_ver(unsigned, const void *, int, const void *);
extern void GOMP_offload_unregister_ver(unsigned, const void *, int, const void *);
extern void GOMP_target_ext(int, void (*)(void *), size_t, void **, size_t *, unsigned short *, unsigned,
                            void **, void **);
extern void GOMP_target_enter_exit_data(int, size_t, void **, size_t *, unsigned short *, unsigned, void **);

struct structure { uint64_t other, *array; };

static long calls, wrong, pause_for;
static uint64_t x[3][1024], good[3][1024];

/* The region of device(ancestor: 1), on the host. */
static void region_on_host(void *data)
{
  void **at = data;
  uint64_t *mine = at[0], *value = at[1], round = (uint64_t)at[2], *private = at[3];
  struct structure *structure = at[4];
  if (pause_for)
    usleep(pause_for);
  __atomic_fetch_add(&calls, 1, __ATOMIC_RELAXED);
  if ((char *)mine < (char *)x || (char *)mine >= (char *)x + sizeof x || *value % 1000 != round
      || *private != round || structure->array != at[6] || structure->array[1] != round)
    __atomic_fetch_add(&wrong, 1, __ATOMIC_RELAXED);
  *mine += 1;
  *value += 7;
  *private = 99;
  structure->array[0] += 100;
}

static void region_on_device(void *data) { (void)data; }
static void region_with_pointer(void *data) { (void)data; }
static void region_on_host_of_another_image(void *data) { region_on_host(data); }
static void region_on_device_of_another_image(void *data) { (void)data; }
static void region_with_pointer_of_another_image(void *data) { (void)data; }
static int add_forty_two(int number) { return number + 1; }

/* The tables as mkoffload and the linker write them. */
static void (*const functions[])(void *) = { region_on_host, region_on_device, region_with_pointer };
static int (*const indirect[])(int) = { add_forty_two };
static const void *const host_table[] = {
  functions, functions + 3, functions, functions, indirect, indirect + 1,
};
static void (*const other_functions[])(void *) = {
  region_on_host_of_another_image, region_on_device_of_another_image, region_with_pointer_of_another_image,
};
static const void *const other_table[] = {
  other_functions, other_functions + 3, functions, functions, indirect, indirect + 1,
};
static const struct object { const char *code; size_t size; } objects[] = {
  { code, sizeof code }, { function_table, sizeof function_table }, { indirect_table, sizeof indirect_table },
};
static const struct function { const char *name; unsigned short dimensions[3]; } names[] = {
  { "main$_omp_fn$0$nohost", { 0 } }, { "main$_omp_fn$1", { 0 } }, { "main$_omp_fn$2", { 0 } },
};
static const struct image {
  uintptr_t requires;
  const struct object *objects;
  unsigned object_count;
  const char *const *variables;
  unsigned variable_count;
  const struct function *functions;
  unsigned function_count, indirect_count;
} with_reverse_offload = { TARGET_USED | REVERSE_OFFLOAD, objects, 3, 0, 0, names, 3, 1 },
  of_another = { TARGET_USED | REVERSE_OFFLOAD, objects, 3, 0, 0, names, 3, 1 },
  without = { TARGET_USED, objects, 3, 0, 0, names, 3, 1 };
/* Another program's, whose regions are all for the device. */
static const struct function others[] = { { "main$_omp_fn$2", { 0 } } };
static const struct image for_devices = { TARGET_USED | REVERSE_OFFLOAD, objects, 3, 0, 0, others, 1, 1 };
static void (*const functions_for_devices[])(void *) = { region_with_pointer };
static const void *const table_for_devices[] = {
  functions_for_devices, functions_for_devices + 1, functions, functions, indirect, indirect + 1,
};
static unsigned version = 3 << 16 | 1;
static const struct image *image = &with_reverse_offload;

static const void *const *table = host_table;

static void begin(void) { GOMP_offload_register_ver(version, table, NVPTX, image); }
static void end(void) { GOMP_offload_unregister_ver(version, table, NVPTX, image); }

/* Threads of this process that serve calls. */
static int servers(void)
{
  char path[300], name[32];
  int found = 0;
  DIR *tasks = opendir("/proc/self/task");
  for (struct dirent *task; (task = readdir(tasks));) {
    snprintf(path, sizeof path, "/proc/self/task/%s/comm", task->d_name);
    FILE *file = fopen(path, "r");
    if (file && fgets(name, sizeof name, file))
      found += strcmp(name, "gangway-calls\n") == 0;
    if (file)
      fclose(file);
  }
  closedir(tasks);
  return found;
}

static void launch(int device, void (*region)(void *), size_t count, void **hosts, size_t *sizes,
                   unsigned short *kinds, long teams, long threads)
{
  void *arguments[] = { (void *)(1 << 8 | teams << 16), (void *)(2 << 8 | threads << 16), 0 };
  GOMP_target_ext(device, region, count, hosts, sizes, kinds, 0, 0, arguments);
}

/* A pointer to a function of the host is called on the device. */
static void call_indirectly(void)
{
  int answer = 0;
  void *hosts[] = { (void *)add_forty_two, &answer };
  size_t sizes[] = { 0, sizeof answer };
  unsigned short kinds[] = { FIRSTPRIVATE_INT, TOFROM };
  launch(0, region_with_pointer, 2, hosts, sizes, kinds, 1, 1);
  CHECK(answer == 142);
}

/* Runs a kernel; its threads have the host run its region as often as `rounds` says. */
static void run_of(void (*region)(void *), int device, int first, long teams, long threads, long rounds, long what)
{
  uint64_t *mine = x[device] + first, *ok = good[device] + first;
  size_t bytes = teams * threads * sizeof *mine;
  void *hosts[] = { mine, ok, (void *)rounds, (void *)what };
  size_t sizes[] = { bytes, bytes, 0, 0 };
  unsigned short kinds[] = { ALLOC, TOFROM, FIRSTPRIVATE_INT, FIRSTPRIVATE_INT };
  launch(device, region, 4, hosts, sizes, kinds, teams, threads);
}

static void run(int device, int first, long teams, long threads, long rounds, long what)
{
  run_of(region_on_device, device, first, teams, threads, rounds, what);
}

static void check(int device, long first, long threads, long rounds)
{
  for (long thread = first; thread < first + threads; thread++)
    if (x[device][thread] != (uint64_t)rounds || good[device][thread] != (uint64_t)rounds) {
      printf("thread %ld of device %d: %lu calls, of which %lu good, expected %ld\n", thread, device,
             (unsigned long)x[device][thread], (unsigned long)good[device][thread], rounds);
      exit(1);
    }
  memset(x[device] + first, 0, threads * sizeof x[0][0]);
  memset(good[device] + first, 0, threads * sizeof x[0][0]);
}

static void *of_a_thread(void *number)
{
  long mine = (long)number;
  for (int round = 0; round < 5; round++) {
    run(mine % 2, mine * 16, 4, 2, 10, 0);
    check(mine % 2, mine * 16, 8, 10);
  }
  return 0;
}

static void *of_an_image(void *region)
{
  int first = region == region_on_device ? 0 : 512;
  for (int round = 0; round < 10; round++) {
    run_of(region, 0, first, 4, 2, 20, 0);
    check(0, first, 8, 20);
  }
  return 0;
}

static void *for_a_while(void *nothing)
{
  run(0, 0, 2, 1, 900, 0);
  return nothing;
}

static void *in_flight(void *nothing)
{
  run(0, 0, 2, 1, 1000000, 0);
  return nothing;
}

int main(int count, char **arguments)
{
  const char *what = count > 1 ? arguments[1] : "calls";
  long number = count > 2 ? atol(arguments[2]) : 0;
  (void)count;
  if (!strcmp(what, "calls")) {
    /* GCC 13 has no functions for indirect calls. Version 4 is that of an interface with plug-ins. */
    for (version = 2 << 16 | 1; version <= (4 << 16 | 1); version += 1 << 16) {
      begin();
      CHECK(omp_get_num_devices() == 1);
      run(0, 0, 1, 1, 3, 0);
      check(0, 0, 1, 3);
      run(0, 0, 16, 4, 20, 0);
      check(0, 0, 64, 20);
      CHECK(calls == 3 + 64 * 20 && wrong == 0 && servers() > 0);
      calls = 0;
      end();
    }
  } else if (!strcmp(what, "indirect")) {
    for (version = 3 << 16 | 1; version <= (4 << 16 | 1); version += 1 << 16) {
      begin();
      call_indirectly();
      end();
    }
  } else if (!strcmp(what, "version")) {
    version = number;
    begin();
    end();
  } else if (!strcmp(what, "devices")) {
    begin();
    CHECK(omp_get_num_devices() == 2);
    pthread_t threads[8];
    for (long thread = 0; thread < 8; thread++)
      pthread_create(&threads[thread], 0, of_a_thread, (void *)thread);
    for (int thread = 0; thread < 8; thread++)
      pthread_join(threads[thread], 0);
    CHECK(calls == 8 * 5 * 80 && wrong == 0);
    end();
  } else if (!strcmp(what, "images")) {
    pthread_t threads[2];
    begin();
    GOMP_offload_register_ver(version, other_table, NVPTX, &of_another);
    pthread_create(&threads[0], 0, of_an_image, region_on_device);
    pthread_create(&threads[1], 0, of_an_image, region_on_device_of_another_image);
    pthread_join(threads[0], 0);
    pthread_join(threads[1], 0);
    CHECK(calls == 2 * 10 * 160 && wrong == 0);
    GOMP_offload_unregister_ver(version, other_table, NVPTX, &of_another);
    end();
  } else if (!strcmp(what, "unregister")) {
    pthread_t thread;
    begin();
    pthread_create(&thread, 0, for_a_while, 0);
    while (__atomic_load_n(&calls, __ATOMIC_RELAXED) < 10)
      usleep(100);
    end();
    pthread_join(thread, 0);
    check(0, 0, 2, 900);
    CHECK(calls == 1800 && wrong == 0);
  } else if (!strcmp(what, "again")) {
    for (int round = 0; round < 5; round++) {
      begin();
      run(0, 0, 2, 2, 5, 0);
      check(0, 0, 4, 5);
      end();
    }
    CHECK(calls == 100);
  } else if (!strcmp(what, "none")) {
    image = &without;
    begin();
    call_indirectly();
    CHECK(servers() == 0);
    end();
  } else if (!strcmp(what, "unused")) {
    image = &for_devices;
    table = table_for_devices;
    begin();
    call_indirectly();
    CHECK(servers() == 0);
    end();
  } else if (!strcmp(what, "wrong")) {
    /* The program ends with a message, or by the kernel's fault. */
    pause_for = number == 6 ? 100000 : 0;
    begin();
    run(0, 0, number == 6 ? 4 : 1, 1, 1, number);
    end();
    return 3;
  } else {
    /* The process ends while calls are under way. */
    pthread_t thread;
    begin();
    pthread_create(&thread, 0, in_flight, 0);
    while (__atomic_load_n(&calls, __ATOMIC_RELAXED) < 10)
      usleep(100);
    puts("passed");
    fflush(stdout);
    if (!strcmp(what, "_exit"))
      _exit(0);
    exit(0);
  }
  puts("passed");
}
