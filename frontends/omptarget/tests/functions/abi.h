// The library's functions as compilers call them, and what the programs of this
// directory share. Each program is given the path of the device image.
#ifndef ABI_H
#define ABI_H

#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <omp.h>

typedef struct {
  int32_t reserved_1, flags, reserved_2, reserved_3;
  const char *source;
} ident_t;

typedef struct {
  uint32_t version, count;
  void **bases, **begins;
  int64_t *sizes, *types;
  void **names, **mappers;
  uint64_t trip_count, flags;
  uint32_t teams[3], thread_limit[3], dynamic_group_memory;
} kernel_arguments;

typedef struct {
  uint64_t reserved;
  uint16_t version, kind;
  uint32_t flags;
  void *address;
  char *name;
  uint64_t size, data;
  void *auxiliary;
} entry;

// Up to clang 19.
typedef struct {
  void *address;
  char *name;
  size_t size;
  int32_t flags, data;
} old_entry;

typedef struct {
  void *start, *end, *entries_begin, *entries_end;
} device_image;

typedef struct {
  int32_t count;
  device_image *images;
  void *entries_begin, *entries_end;
} descriptor;

enum {
  TO = 1,
  FROM = 2,
  ALWAYS = 4,
  DELETE = 8,
  PARAMETER = 0x20,
  PRIVATE = 0x80,
  LITERAL = 0x100,
  PRESENT = 0x1000,
  LINK = 1,
  INDIRECT = 8,
  REQUIRES = 0x10,
};

#define DATA_ARGUMENTS int64_t, int32_t, void **, void **, int64_t *, int64_t *
#define DEPENDENCES int32_t, void *, int32_t, void *
void __tgt_register_lib(descriptor *);
void __tgt_unregister_lib(descriptor *);
void __tgt_register_requires(int64_t);
void __tgt_rtl_init(void);
void __tgt_rtl_deinit(void);
void __tgt_init_all_rtls(void);
void __tgt_set_info_flag(uint32_t);
int __tgt_print_device_info(int64_t);
int __tgt_target_kernel(ident_t *, int64_t, int32_t, int32_t, void *, kernel_arguments *);
int __tgt_target_kernel_nowait(ident_t *, int64_t, int32_t, int32_t, void *, kernel_arguments *, DEPENDENCES);
#define OLD_LAUNCH int64_t, void *, int32_t, void **, void **, int64_t *, int64_t *
int __tgt_target(OLD_LAUNCH);
int __tgt_target_nowait(OLD_LAUNCH, DEPENDENCES);
int __tgt_target_teams(OLD_LAUNCH, int32_t, int32_t);
int __tgt_target_teams_nowait(OLD_LAUNCH, int32_t, int32_t, DEPENDENCES);
int __tgt_target_mapper(ident_t *, OLD_LAUNCH, void **, void **);
int __tgt_target_nowait_mapper(ident_t *, OLD_LAUNCH, void **, void **, DEPENDENCES);
int __tgt_target_teams_mapper(ident_t *, OLD_LAUNCH, void **, void **, int32_t, int32_t);
int __tgt_target_teams_nowait_mapper(ident_t *, OLD_LAUNCH, void **, void **, int32_t, int32_t, DEPENDENCES);
void __kmpc_push_target_tripcount(int64_t, uint64_t);
void __kmpc_push_target_tripcount_mapper(ident_t *, int64_t, uint64_t);
void __tgt_target_nowait_query(void **);
void __tgt_target_sync(ident_t *, int, void *, void *);
#define DATA_FUNCTIONS(which)                                                                                \
  void __tgt_target_data_##which(DATA_ARGUMENTS);                                                            \
  void __tgt_target_data_##which##_nowait(DATA_ARGUMENTS, DEPENDENCES);                                      \
  void __tgt_target_data_##which##_mapper(ident_t *, DATA_ARGUMENTS, void **, void **);                      \
  void __tgt_target_data_##which##_nowait_mapper(ident_t *, DATA_ARGUMENTS, void **, void **, DEPENDENCES)
DATA_FUNCTIONS(begin);
DATA_FUNCTIONS(end);
DATA_FUNCTIONS(update);
void __tgt_push_mapper_component(void *, void *, void *, int64_t, int64_t, void *);
int64_t __tgt_mapper_num_components(void *);

#define CHECK(condition)                                                                                     \
  do {                                                                                                       \
    if (!(condition)) {                                                                                      \
      fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                                        \
      exit(1);                                                                                               \
    }                                                                                                        \
  } while (0)

// Whether the statement, in a process of its own, ends it with an error message.
#define ABORTS(...)                                                                                          \
  ({                                                                                                         \
    fflush(0);                                                                                               \
    pid_t child = fork();                                                                                    \
    if (child == 0) {                                                                                        \
      int null = open("/dev/null", O_WRONLY);                                                                \
      dup2(null, 2);                                                                                         \
      __VA_ARGS__;                                                                                           \
      _exit(0);                                                                                              \
    }                                                                                                        \
    int status = 0;                                                                                          \
    waitpid(child, &status, 0);                                                                              \
    WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;                                                      \
  })

// The image in memory; `size` gets its length.
static inline void *read_image(const char *path, size_t *size) {
  int file = open(path, O_RDONLY);
  struct stat about;
  CHECK(file >= 0 && fstat(file, &about) == 0);
  void *memory = mmap(0, about.st_size, PROT_READ, MAP_PRIVATE, file, 0);
  CHECK(memory != MAP_FAILED);
  close(file);
  *size = about.st_size;
  return memory;
}

// Identities of the regions; only their addresses count.
static char increment_region, sum_region, table_region, old_region, many_region, missing_region;
static char clang_23_region, many_clang_23_region, flang_23_region;

// Registers the image with the kernels that the programs launch.
static inline void register_kernels(const char *path) {
  static entry entries[] = {
      {0, 1, 1, 0, &increment_region, "increment"},
      {0, 1, 1, 0, &sum_region, "sum"},
      {0, 1, 1, 0, &table_region, "read_table"},
      {0, 1, 1, 0, &old_region, "increment_without_pointer"},
      {0, 1, 1, 0, &many_region, "many"},
      {0, 1, 1, 0, &missing_region, "not_in_the_image"},
      {0, 1, 1, 0, &clang_23_region, "increment_by_address"},
      {0, 1, 1, 0, &many_clang_23_region, "many_by_address"},
      {0, 1, 1, 0, &flang_23_region, "increment_of_flang"},
  };
  static device_image image;
  static descriptor library = {1, &image, entries, entries + sizeof entries / sizeof *entries};
  size_t size;
  image.start = read_image(path, &size);
  image.end = (char *)image.start + size;
  image.entries_begin = library.entries_begin;
  image.entries_end = library.entries_end;
  __tgt_register_lib(&library);
}

#endif
