// functions: __tgt_target_kernel __tgt_target_kernel_nowait __tgt_target __tgt_target_nowait
// functions: __tgt_target_teams __tgt_target_teams_nowait __tgt_target_mapper __tgt_target_nowait_mapper
// functions: __tgt_target_teams_mapper __tgt_target_teams_nowait_mapper
// functions: __kmpc_push_target_tripcount __kmpc_push_target_tripcount_mapper
#include "abi.h"

static ident_t here = {0, 2, 0, 0, ";launch.c;main;1;1;;"};
static int value;
static void *bases[] = {&value};
static int64_t sizes[] = {4}, types[] = {TO | FROM | PARAMETER};
static void *names[] = {";value;launch.c;9;12;;"}, *mappers[] = {0};

static int launch(int64_t device, void *region, uint32_t version) {
  kernel_arguments arguments = {version, 1, bases, bases, sizes, types, names, mappers};
  return __tgt_target_kernel(&here, device, -1, 0, region, &arguments);
}

int main(int argc, char **argv) {
  register_kernels(argv[1]);
  const int host = omp_get_initial_device();

  // The present form, and those before the implicit pointer.
  CHECK(launch(0, &increment_region, 3) == 0 && value == 1);
  CHECK(launch(-1, &increment_region, 3) == 0 && value == 2);
  CHECK(launch(3, &increment_region, 3) == 0 && value == 3);
  CHECK(launch(0, &old_region, 2) == 0 && value == 4);
  CHECK(launch(0, &old_region, 1) == 0 && value == 5);

  // No arguments, names, mappers, location.
  kernel_arguments few = {3, 1, bases, bases, sizes, types};
  CHECK(__tgt_target_kernel(0, 0, 0, 0, &increment_region, &few) == 0 && value == 6);
  few.flags = 1; // nowait, outside a task
  CHECK(__tgt_target_kernel(0, 0, 1, 1, &increment_region, &few) == 0 && value == 7);
  few.flags = 0;
  CHECK(__tgt_target_kernel_nowait(&here, 0, -1, 0, &increment_region, &few, 0, 0, 0, 0) == 0 && value == 8);

  // Private, literal and many arguments.
  int values[] = {1, 2, 3, 4}, result = 0;
  void *sum_bases[] = {values, (void *)4, &result}, *sum_begins[] = {values, (void *)4, &result};
  int64_t sum_sizes[] = {sizeof values, 8, 4};
  int64_t sum_types[] = {TO | PRIVATE | PARAMETER, LITERAL | PARAMETER, FROM | PARAMETER};
  kernel_arguments sum = {3, 3, sum_bases, sum_begins, sum_sizes, sum_types};
  CHECK(__tgt_target_kernel(&here, 0, -1, 0, &sum_region, &sum) == 0 && result == 10);
  void *many_bases[9] = {&result};
  int64_t many_sizes[9] = {4}, many_types[9] = {FROM | PARAMETER};
  for (int64_t i = 1; i < 9; ++i) {
    many_bases[i] = (void *)i;
    many_sizes[i] = 8;
    many_types[i] = LITERAL | PARAMETER;
  }
  kernel_arguments many = {3, 9, many_bases, many_bases, many_sizes, many_types};
  CHECK(__tgt_target_kernel(&here, 0, -1, 0, &many_region, &many) == 0 && result == 87654321);

  // Clang 23's: the launch environment comes last, and kernels get addresses.
  value = 0;
  void *last_bases[] = {&value, 0};
  int64_t last_sizes[] = {4, 0}, last_types[] = {TO | FROM | PARAMETER, LITERAL | PARAMETER};
  kernel_arguments last = {5, 2, last_bases, last_bases, last_sizes, last_types};
  CHECK(__tgt_target_kernel(&here, 0, -1, 0, &clang_23_region, &last) == 0 && value == 1);
  last.teams[0] = 4;
  CHECK(__tgt_target_kernel_nowait(&here, 2, 0, 0, &clang_23_region, &last, 0, 0, 0, 0) == 0 && value == 2);
  CHECK(__tgt_target_kernel(&here, 0, -1, 0, &flang_23_region, &last) == 0 && value == 3);
  void *all_bases[10] = {&result};
  int64_t all_sizes[10] = {4}, all_types[10] = {FROM | PARAMETER};
  for (int64_t i = 1; i < 10; ++i) {
    all_bases[i] = (void *)(i == 9 ? 0 : i);
    all_sizes[i] = i == 9 ? 0 : 8;
    all_types[i] = LITERAL | PARAMETER;
  }
  kernel_arguments all = {5, 10, all_bases, all_bases, all_sizes, all_types};
  result = 0;
  CHECK(__tgt_target_kernel(&here, 0, -1, 0, &many_clang_23_region, &all) == 0 && result == 87654321);
  // Of versions that no release has nothing is known.
  CHECK(ABORTS(launch(0, &increment_region, 4)));
  CHECK(ABORTS(launch(0, &increment_region, 6)));

  // The forms of older compilers.
  value = 0;
  __kmpc_push_target_tripcount(0, 100);
  CHECK(__tgt_target(0, &old_region, 1, bases, bases, sizes, types) == 0 && value == 1);
  CHECK(__tgt_target_nowait(0, &old_region, 1, bases, bases, sizes, types, 0, 0, 0, 0) == 0 && value == 2);
  CHECK(__tgt_target_teams(0, &old_region, 1, bases, bases, sizes, types, 1, 1) == 0 && value == 3);
  CHECK(__tgt_target_teams_nowait(0, &old_region, 1, bases, bases, sizes, types, 1, 1, 0, 0, 0, 0) == 0);
  CHECK(value == 4);
  __kmpc_push_target_tripcount_mapper(&here, 0, 100);
  CHECK(__tgt_target_mapper(&here, 0, &old_region, 1, bases, bases, sizes, types, names, mappers) == 0);
  CHECK(value == 5);
  CHECK(__tgt_target_nowait_mapper(&here, 0, &old_region, 1, bases, bases, sizes, types, names, mappers, 0, 0, 0,
                                   0) == 0);
  CHECK(value == 6);
  CHECK(__tgt_target_teams_mapper(&here, 0, &old_region, 1, bases, bases, sizes, types, names, mappers, 1, 1) ==
        0);
  CHECK(value == 7);
  CHECK(__tgt_target_teams_nowait_mapper(&here, 0, &old_region, 1, bases, bases, sizes, types, names, mappers, 1,
                                         1, 0, 0, 0, 0) == 0);
  CHECK(value == 8);

  // The host is to run it: nonzero, and nothing has happened.
  CHECK(launch(host, &increment_region, 3) != 0 && value == 8);
  CHECK(__tgt_target(host, &old_region, 1, bases, bases, sizes, types) != 0 && value == 8);
  // The image lacks the kernel: the host may.
  fflush(stderr);
  CHECK(launch(0, &missing_region, 3) != 0 && value == 8);
  CHECK(!omp_target_is_present(&value, 0));
  // No such device, no such region, data that must be present and is not.
  CHECK(ABORTS(launch(99, &increment_region, 3)));
  CHECK(ABORTS(launch(-7, &increment_region, 3)));
  CHECK(ABORTS(launch(0, &value, 3)));
  CHECK(ABORTS(__tgt_target_teams(99, &old_region, 1, bases, bases, sizes, types, 1, 1)));
  types[0] |= PRESENT;
  CHECK(ABORTS(launch(0, &increment_region, 3)));
  return 0;
}
