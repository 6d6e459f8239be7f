/* What goes wrong, by the name of the first argument. */
#include "null_image.h"

#include <omp.h>

/* Regions of the null back end's own kernels, registered by hand. */
struct entry {
  uint64_t reserved;
  uint16_t version, kind;
  uint32_t flags;
  void *address;
  const char *name;
  uint64_t size, data;
  void *auxiliary;
};
struct arguments {
  uint32_t version, count;
  void **bases, **begins;
  int64_t *sizes;
  uint64_t *types;
  void **names, **mappers;
  uint64_t trip_count, flags;
  uint32_t teams[3], threads[3], dynamic_group_memory;
};
struct place {
  int32_t reserved_1, flags, reserved_2, reserved_3;
  const char *source;
};
int __tgt_target_kernel(const struct place *, int64_t, int32_t, int32_t, void *, struct arguments *);

static char fail_region, absent_region;

static void register_kernels(void)
{
  static const char image[] = "GWNULL\0kernel fail\n";
  static struct entry entries[] = {
      {.version = 1, .kind = 1, .address = &fail_region, .name = "fail"},
      {.version = 1, .kind = 1, .address = &absent_region, .name = "absent"},
  };
  static struct image null = {image, image + sizeof image - 1, entries, entries + 2};
  static struct descriptor library = {1, &null, entries, entries + 2};
  void (*function)(struct descriptor *) =
      (void (*)(struct descriptor *))dlsym(RTLD_NEXT, "__tgt_register_lib");
  function(&library);
}

static int launch(char *region, int device)
{
  static const struct place place = {.flags = 2, .source = ";failures.c;launch;62;3;;"};
  struct arguments none = {.version = 3};
  return __tgt_target_kernel(&place, device, -1, 0, region, &none);
}

/* The task has to tell: the construct itself returns at once. */
static void doomed(int device)
{
  int value = 1;
#pragma omp target nowait device(device) map(tofrom : value)
  value++;
#pragma omp taskwait
  printf("%d\n", value);
}

int main(int argc, char **argv)
{
  const char *what = argc > 1 ? argv[1] : "";
  const int null = omp_get_num_devices() - 1;
  setvbuf(stdout, NULL, _IONBF, 0);
  if (strcmp(what, "kernel") == 0) {
    register_kernels();
    printf("%d\n", launch(&fail_region, null));
  } else if (strcmp(what, "absent") == 0) {
    register_kernels();
    printf("%d\n", launch(&absent_region, null));
  } else if (strcmp(what, "other") == 0) {
    register_kernels();
    printf("%d\n", launch(&fail_region, 0));
  } else if (strcmp(what, "memory") == 0) {
    static double field[1 << 18];
    field[1] = 1;
#pragma omp target device(null) map(tofrom : field)
    field[1] += omp_is_initial_device() ? 1 : 2;
    printf("%g\n", field[1]);
  } else if (strcmp(what, "private") == 0) {
    double field[1 << 18];
    field[1] = 1;
#pragma omp target device(null) firstprivate(field)
    field[1] += 1;
    printf("%g\n", field[1]);
  } else if (strcmp(what, "task") == 0) {
    doomed(null);
  } else {
    int value = 1;
#pragma omp target map(tofrom : value) device(null)
    value += omp_is_initial_device() ? 1 : 2;
    printf("%d\n", value);
  }
  return 0;
}
