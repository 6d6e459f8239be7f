// functions: omp_target_is_present omp_target_is_accessible omp_get_mapped_ptr omp_target_associate_ptr
// functions: omp_target_disassociate_ptr ompx_dump_mapping_tables __llvm_omp_indirect_call_lookup
#include "abi.h"

void ompx_dump_mapping_tables(void);
void *__llvm_omp_indirect_call_lookup(void *);

static int data[8], other[8];
static void *bases[] = {data};
static int64_t sizes[] = {sizeof data}, types[] = {TO};

int main(int argc, char **argv) {
  register_kernels(argv[1]);
  const int host = omp_get_initial_device();

  // A function of the host is called by CPU devices as it is.
  CHECK(__llvm_omp_indirect_call_lookup((void *)main) == (void *)main);

  // Not mapped, mapped on one device, mapped no more.
  CHECK(!omp_target_is_present(data, 0) && omp_get_mapped_ptr(data, 0) == 0);
  __tgt_target_data_begin(0, 1, bases, bases, sizes, types);
  char *storage = omp_get_mapped_ptr(data, 0);
  CHECK(omp_target_is_present(data, 0) && storage && storage != (char *)data);
  CHECK(omp_target_is_present(data + 7, 0) && omp_get_mapped_ptr(data + 7, 0) == storage + 28);
  CHECK(!omp_target_is_present(data + 8, 0) && !omp_get_mapped_ptr(data + 8, 0));
  CHECK(!omp_target_is_present(data, 1) && !omp_get_mapped_ptr(data, 1));
  ompx_dump_mapping_tables();
  CHECK(omp_target_disassociate_ptr(data, 0) != 0);
  __tgt_target_data_end(0, 1, bases, bases, sizes, types);
  CHECK(!omp_target_is_present(data, 0));

  // What `use_device_ptr` gives for a pointer: the device's address; where nothing is mapped the
  // pointer itself, or with clang 23's `fb_nullify` null.
  const int64_t address[] = {0x40, 0x8040};
  for (int nullify = 0; nullify < 2; ++nullify) {
    void *pointers[2] = {data, data}, *given[2];
    int64_t pointer_sizes[2] = {sizeof data, 0}, pointer_types[2] = {TO, address[nullify]};
    for (int mapped = 0; mapped < 2; ++mapped) {
      const int first = !mapped, count = 2 - first;
      given[1] = data;
      given[0] = data;
      __tgt_target_data_begin(0, count, given + first, pointers + first, pointer_sizes + first,
                              pointer_types + first);
      if (mapped)
        CHECK(given[1] == omp_get_mapped_ptr(data, 0) && given[1] != data);
      else
        CHECK(given[1] == (nullify ? 0 : data));
      given[1] = data;
      __tgt_target_data_end(0, count, given + first, pointers + first, pointer_sizes + first,
                            pointer_types + first);
      CHECK(!omp_target_is_present(data, 0));
    }
  }

  // The host has everything, null is nowhere.
  CHECK(omp_target_is_present(data, host) && omp_get_mapped_ptr(data, host) == data);
  CHECK(!omp_target_is_present(0, host) && !omp_target_is_present(0, 0));
  CHECK(!omp_get_mapped_ptr(0, 0) && !omp_get_mapped_ptr(0, host));
  CHECK(!omp_get_mapped_ptr(data, host + 1));
  CHECK(omp_target_is_accessible(data, sizeof data, host));
  CHECK(!omp_target_is_accessible(0, 8, host) && !omp_target_is_accessible(0, 8, 0));
  int accessible = omp_target_is_accessible(data, sizeof data, 0);
  CHECK(accessible == 0 || accessible == 1);
  CHECK(ABORTS(omp_target_is_present(data, 99)));
  CHECK(ABORTS(omp_target_is_accessible(data, 4, 99)));

  // Storage of the program's own.
  int *own = omp_target_alloc(2 * sizeof data, 0);
  CHECK(omp_target_associate_ptr(data, own, sizeof data, 16, 0) == 0);
  CHECK(omp_get_mapped_ptr(data + 1, 0) == own + 5);
  // Again the same, otherwise, elsewhere, overlapping.
  CHECK(omp_target_associate_ptr(data, own, sizeof data, 16, 0) == 0);
  CHECK(omp_target_associate_ptr(data, own, sizeof data, 0, 0) != 0);
  CHECK(omp_target_associate_ptr(data, own, 8, 16, 0) != 0);
  CHECK(omp_target_associate_ptr(data + 4, own, sizeof data, 0, 0) != 0);
  CHECK(omp_target_associate_ptr(0, own, 8, 0, 0) != 0);
  CHECK(omp_target_associate_ptr(other, 0, 8, 0, 0) != 0);
  CHECK(omp_target_associate_ptr(other, own, 0, 0, 0) != 0);
  CHECK(omp_target_associate_ptr(other, own, 8, 0, host) != 0);
  CHECK(ABORTS(omp_target_associate_ptr(other, own, 8, 0, 99)));
  // Constructs use it and never free it; nothing is copied unless always.
  data[0] = 77;
  __tgt_target_data_begin(0, 1, bases, bases, sizes, types);
  types[0] = DELETE;
  __tgt_target_data_end(0, 1, bases, bases, sizes, types);
  CHECK(omp_target_is_present(data, 0));
  types[0] = TO;
  __tgt_target_data_update(0, 1, bases, bases, sizes, types);
  int seen = 0;
  CHECK(omp_target_memcpy(&seen, own, 4, 0, 16, host, 0) == 0 && seen == 77);
  ompx_dump_mapping_tables();

  CHECK(omp_target_disassociate_ptr(data + 1, 0) != 0);
  CHECK(omp_target_disassociate_ptr(other, 0) != 0);
  CHECK(omp_target_disassociate_ptr(0, 0) != 0);
  CHECK(omp_target_disassociate_ptr(data, host) != 0);
  CHECK(omp_target_disassociate_ptr(data, 1) != 0);
  CHECK(ABORTS(omp_target_disassociate_ptr(data, 99)));
  CHECK(omp_target_disassociate_ptr(data, 0) == 0);
  CHECK(!omp_target_is_present(data, 0));
  CHECK(omp_target_disassociate_ptr(data, 0) != 0);
  omp_target_free(own, 0);
  ompx_dump_mapping_tables();
  return 0;
}
