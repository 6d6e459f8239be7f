/* Interop constructs as clang translates them, on a device with a foreign runtime. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <omp.h>
#include <stdatomic.h>
#include <stdio.h>

void __tgt_init_all_rtls(void);
int ompx_interop_add_completion_callback(omp_interop_t, void (*)(omp_interop_t, void *), void *);

static int completed;
static void on_completion(omp_interop_t interop, void *data) {
  (void)interop;
  completed += *(int *)data;
}

#define TEXT(text) ((text) ? (text) : "null")

static void tell(const char *what, omp_interop_t interop) {
  int code;
  printf("%s: ", what);
  printf("fr_id %d, ", (int)omp_get_interop_int(interop, omp_ipr_fr_id, &code));
  printf("%s, ", TEXT(omp_get_interop_str(interop, omp_ipr_fr_name, &code)));
  printf("%s, ", TEXT(omp_get_interop_str(interop, omp_ipr_vendor_name, &code)));
  printf("device %d, ", (int)omp_get_interop_int(interop, omp_ipr_device_num, &code));
  printf("handles %d", omp_get_interop_ptr(interop, omp_ipr_device, &code) != NULL);
  printf("%d", omp_get_interop_ptr(interop, omp_ipr_device_context, &code) != NULL);
  printf("%d", omp_get_interop_ptr(interop, omp_ipr_targetsync, &code) != NULL);
  omp_get_interop_ptr(interop, omp_ipr_platform, &code);
  printf(", platform %d\n", code);
}

int main(void) {
  __tgt_init_all_rtls();
  /* The back end with the foreign runtime is the one whose device gives an object. */
  int number = -1;
  for (int i = 0; i < omp_get_num_devices(); i++) {
    omp_interop_t probe = omp_interop_none;
#pragma omp interop init(target : probe) device(i)
    if (probe == omp_interop_none) continue;
    number = i;
#pragma omp interop destroy(probe)
  }
  void *library = dlopen("libgangway-rtl-foreign.so", RTLD_NOW | RTLD_NOLOAD);
  atomic_int *waits = library ? dlsym(library, "foreign_waits") : NULL;
  atomic_int *queues = library ? dlsym(library, "foreign_queues") : NULL;
  if (number < 0 || !waits || !queues) return printf("no device with a foreign runtime\n"), 1;

  int dependence = 0, one = 1;
  omp_interop_t sync = omp_interop_none, both = omp_interop_none, host = omp_interop_none;
#pragma omp interop init(targetsync : sync) device(number) depend(inout : dependence)
#pragma omp interop init(prefer_type("hsa", "hip"), target, targetsync : both) device(number) nowait
#pragma omp interop init(targetsync : host) device(omp_get_initial_device())
  tell("sync", sync);
  tell("both", both);
  printf("right device %d, host %d, queues %d\n", omp_get_interop_int(sync, omp_ipr_device_num, NULL) == number,
         host != omp_interop_none, atomic_load(queues));
  int *queue = omp_get_interop_ptr(sync, omp_ipr_targetsync, NULL);
  *queue = 7; /* "work" */
  ompx_interop_add_completion_callback(sync, on_completion, &one);
  int before = atomic_load(waits);
#pragma omp interop use(sync) nowait
  printf("use nowait: waits %d, queue %d, completed %d\n", atomic_load(waits) - before, *queue, completed);
#pragma omp interop use(sync) depend(inout : dependence)
  printf("use: waits %d, queue %d, completed %d\n", atomic_load(waits) - before, *queue, completed);
  printf("types %s, %s, %s\n", omp_get_interop_type_desc(sync, omp_ipr_targetsync),
         omp_get_interop_type_desc(sync, omp_ipr_device), omp_get_interop_type_desc(sync, omp_ipr_vendor));
  printf("names %s, %s\n", omp_get_interop_name(sync, omp_ipr_first), omp_get_interop_name(sync, omp_ipr_fr_id));
#pragma omp interop destroy(sync)
#pragma omp interop destroy(both) depend(inout : dependence)
  printf("destroyed %d %d, queues %d\n", sync == omp_interop_none, both == omp_interop_none,
         atomic_load(queues));
  return 0;
}
