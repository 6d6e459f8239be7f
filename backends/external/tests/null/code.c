/* Images of the null back end that contain machine code: a shared object of this
 * machine. Each device loads a copy of its own, with globals of its own. The
 * regions of a function called `doomed` run, and are then said to have failed. */
#define _GNU_SOURCE
#include "null.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* More arguments than any kernel of the tests has. Passing too many does no harm
 * in this machine's calling convention. */
#define MOST_ARGUMENTS 12

typedef uint64_t word;
typedef void entry_point(word, word, word, word, word, word, word, word, word, word, word, word);

gangway_rtl_status null_load_code(gangway_rtl_module module, const char *code, size_t size,
                                  gangway_rtl_error *error)
{
  int file = memfd_create("null-image", MFD_CLOEXEC);
  if (file < 0 || write(file, code, size) != (ssize_t)size) {
    close(file);
    return null_fail(error, GANGWAY_RTL_FAILED, 0, "no memory for %s", "an image");
  }
  char path[64];
  snprintf(path, sizeof path, "/proc/self/fd/%d", file);
  module->code = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!module->code) {
    close(file);
    return null_fail(error, GANGWAY_RTL_INVALID_IMAGE, 0, "%s", dlerror());
  }
  /* Stays open: the loader takes a second file of the same name for the first. */
  module->file = file;
  return GANGWAY_RTL_OK;
}

void null_unload_code(gangway_rtl_module module)
{
  while (module->entry_points) {
    gangway_rtl_kernel next = module->entry_points->next;
    free(module->entry_points);
    module->entry_points = next;
  }
  if (module->code) {
    dlclose(module->code);
    close(module->file);
  }
}

gangway_rtl_kernel null_code_kernel(gangway_rtl_module module, const char *name)
{
  void *code = module->code ? dlsym(module->code, name) : NULL;
  gangway_rtl_kernel kernel = code ? calloc(1, sizeof *kernel + strlen(name) + 1) : NULL;
  if (!kernel)
    return NULL;
  kernel->name = strcpy((char *)(kernel + 1), name);
  kernel->code = code;
  kernel->next = atomic_load(&module->entry_points);
  while (!atomic_compare_exchange_weak(&module->entry_points, &kernel->next, kernel))
    ;
  return kernel;
}

void *null_code_global(gangway_rtl_module module, const char *name)
{
  return module->code ? dlsym(module->code, name) : NULL;
}

gangway_rtl_status null_run_code(gangway_rtl_kernel kernel, uint32_t count, const uint64_t *arguments,
                                 gangway_rtl_error *error)
{
  word a[MOST_ARGUMENTS] = {0};
  if (count > MOST_ARGUMENTS)
    return null_fail(error, GANGWAY_RTL_FAILED, 14, "%s has too many arguments", kernel->name);
  memcpy(a, arguments, count * sizeof *a);
  ((entry_point *)kernel->code)(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10], a[11]);
  if (strstr(kernel->name, "_doomed_"))
    return null_fail(error, GANGWAY_RTL_FAILED, 720, "%s has been hit by a particle", "the device");
  return GANGWAY_RTL_OK;
}
