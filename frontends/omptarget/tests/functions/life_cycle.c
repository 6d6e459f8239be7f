// functions: __tgt_register_lib __tgt_unregister_lib __tgt_register_requires __tgt_rtl_init
// functions: __tgt_rtl_deinit __tgt_init_all_rtls __tgt_set_info_flag
#include "abi.h"

static int table[4] = {10, 20, 30, 40};
static int twice(int value) { return value; }

// Launches `read_table` and answers what it found.
static int read_table(void) {
  int result = -1;
  void *bases[] = {&result};
  int64_t sizes[] = {4}, types[] = {FROM | PARAMETER};
  kernel_arguments arguments = {3, 1, bases, bases, sizes, types};
  CHECK(__tgt_target_kernel(0, 0, -1, 0, &table_region, &arguments) == 0);
  return result;
}

int main(int argc, char **argv) {
  size_t size;
  void *start = read_image(argv[1], &size);

  // Nothing registered: no devices, and nothing minds.
  __tgt_rtl_init();
  CHECK(omp_get_num_devices() == 0);
  __tgt_rtl_deinit();
  __tgt_register_lib(0);
  __tgt_unregister_lib(0);

  // A library without images and without entries.
  descriptor empty = {0, 0, 0, 0};
  __tgt_register_lib(&empty);
  CHECK(omp_get_num_devices() == 0);
  __tgt_unregister_lib(&empty);
  // What was never registered.
  __tgt_unregister_lib(&empty);

  // Today's entries: a kernel, a global, an indirect function, a `requires`, one
  // of another language, which is none of ours.
  entry entries[] = {
      {0, 1, 1, 0, &table_region, "read_table"},
      {0, 1, 1, 0, table, "table", sizeof table},
      {0, 1, 1, INDIRECT, (void *)twice, "twice_on_device", 8},
      {0, 1, 1, REQUIRES, 0, ".requires", 0, 1},
      {0, 1, 2, 0, &increment_region, "no_openmp"},
  };
  device_image image = {start, (char *)start + size, entries, entries + 5};
  descriptor library = {1, &image, entries, entries + 5};
  __tgt_register_lib(&library);
  CHECK(omp_get_num_devices() == 4);
  CHECK(read_table() == 1 + 2 + 3 + 4);
  CHECK(omp_target_is_present(table, 0));
  CHECK(omp_target_is_present((void *)twice, 0));
  CHECK(ABORTS({
    int64_t no_types[] = {0};
    kernel_arguments none = {3, 0, 0, 0, 0, no_types};
    __tgt_target_kernel(0, 0, -1, 0, &increment_region, &none);
  }));
  __tgt_unregister_lib(&library);
  CHECK(!omp_target_is_present(table, 0));

  // Damage where the layouts differ: these are today's entries still, and no names are read where none are.
  entries[0].reserved = 0x20;
  __tgt_register_lib(&library);
  CHECK(read_table() == 1 + 2 + 3 + 4);
  __tgt_unregister_lib(&library);

  // The entries of clang 19 and before.
  old_entry old_entries[] = {
      {&table_region, "read_table", 0, 0, 0},
      {table, "table", sizeof table, 0, 0},
      // A relic: constructors are run by the image's own loader now.
      {&many_region, "a_constructor", 0, 2, 0},
  };
  device_image old_image = {start, (char *)start + size, old_entries, old_entries + 3};
  descriptor old_library = {1, &old_image, old_entries, old_entries + 3};
  __tgt_register_lib(&old_library);
  CHECK(read_table() == 10);
  int changed[4] = {5, 6, 7, 8};
  memcpy(table, changed, sizeof table);
  void *bases[] = {table};
  int64_t sizes[] = {sizeof table}, types[] = {TO};
  __tgt_target_data_update(0, 1, bases, bases, sizes, types);
  CHECK(read_table() == 5 + 6 + 7 + 8);
  // Registered twice in a process: open and close again.
  __tgt_unregister_lib(&old_library);
  __tgt_register_lib(&old_library);
  CHECK(read_table() == 10);
  __tgt_unregister_lib(&old_library);

  // `requires` clauses have to agree.
  __tgt_register_requires(1);
  CHECK(ABORTS(__tgt_register_requires(8)));
  entry disagreeing[] = {{0, 1, 1, REQUIRES, 0, ".requires", 0, 8}};
  descriptor other = {0, 0, disagreeing, disagreeing + 1};
  CHECK(ABORTS(__tgt_register_lib(&other)));

  // All back ends at once, twice.
  __tgt_init_all_rtls();
  __tgt_init_all_rtls();
  CHECK(omp_get_num_devices() == 4);

  // Information on and off.
  __tgt_set_info_flag(0);
  __tgt_set_info_flag(~0u);
  __tgt_set_info_flag(0);
  return 0;
}
