// functions: __tgt_push_mapper_component __tgt_mapper_num_components
#include "abi.h"

struct pair {
  int first, between, second;
};

static int64_t before_first = -1, before_second = -1;

// Maps `first` and `second` of a pair.
static void map_pair(void *handle, void *base, void *begin, int64_t size, int64_t type, void *name) {
  struct pair *pair = begin;
  CHECK(size == sizeof *pair);
  before_first = __tgt_mapper_num_components(handle);
  __tgt_push_mapper_component(handle, base, &pair->first, 4, type & (TO | FROM), name);
  before_second = __tgt_mapper_num_components(handle);
  __tgt_push_mapper_component(handle, base, &pair->second, 4, type & (TO | FROM), name);
}

// Maps something that cannot be present.
static void map_badly(void *handle, void *base, void *begin, int64_t size, int64_t type, void *name) {
  __tgt_push_mapper_component(handle, base, begin, 4, type & (TO | FROM), name);
  __tgt_push_mapper_component(handle, base, (char *)begin + 8, 4, PRESENT, name);
}

// Maps nothing.
static void map_nothing(void *handle, void *base, void *begin, int64_t size, int64_t type, void *name) {
  CHECK(__tgt_mapper_num_components(handle) == 0);
}

int main(int argc, char **argv) {
  register_kernels(argv[1]);
  struct pair pair = {1, 2, 3};
  void *bases[] = {&pair}, *mappers[] = {(void *)map_pair};
  int64_t sizes[] = {sizeof pair}, types[] = {TO};
  __tgt_target_data_begin_mapper(0, 0, 1, bases, bases, sizes, types, 0, mappers);
  CHECK(before_first == 0 && before_second == 1);
  CHECK(omp_target_is_present(&pair.first, 0) && omp_target_is_present(&pair.second, 0));
  CHECK(!omp_target_is_present(&pair.between, 0));
  pair = (struct pair){7, 8, 9};
  types[0] = FROM;
  __tgt_target_data_update_mapper(0, 0, 1, bases, bases, sizes, types, 0, mappers);
  CHECK(pair.first == 1 && pair.between == 8 && pair.second == 3);
  pair = (struct pair){7, 8, 9};
  __tgt_target_data_end_mapper(0, 0, 1, bases, bases, sizes, types, 0, mappers);
  CHECK(pair.first == 1 && pair.between == 8 && pair.second == 3);
  CHECK(!omp_target_is_present(&pair.first, 0) && !omp_target_is_present(&pair.second, 0));

  mappers[0] = (void *)map_nothing;
  __tgt_target_data_begin_mapper(0, 0, 1, bases, bases, sizes, types, 0, mappers);
  CHECK(!omp_target_is_present(&pair, 0));
  mappers[0] = (void *)map_badly;
  CHECK(ABORTS(__tgt_target_data_begin_mapper(0, 0, 1, bases, bases, sizes, types, 0, mappers)));
  return 0;
}
