// functions: __tgt_target_data_begin __tgt_target_data_begin_mapper __tgt_target_data_begin_nowait
// functions: __tgt_target_data_begin_nowait_mapper __tgt_target_data_end __tgt_target_data_end_mapper
// functions: __tgt_target_data_end_nowait __tgt_target_data_end_nowait_mapper __tgt_target_data_update
// functions: __tgt_target_data_update_mapper __tgt_target_data_update_nowait
// functions: __tgt_target_data_update_nowait_mapper
#include "abi.h"

static ident_t here = {0, 2, 0, 0, ";data.c;main;1;1;;"};
static int data[8];
static void *bases[] = {data}, *begins[] = {data + 2};
static int64_t sizes[] = {16}, types[1];
static void *names[] = {";data[2:4];data.c;11;12;;"}, *mappers[] = {0};

enum form { PLAIN, NOWAIT, MAPPER, NOWAIT_MAPPER, FORMS };

#define CALL(which, form, device)                                                                            \
  switch (form) {                                                                                            \
  case PLAIN:                                                                                                \
    __tgt_target_data_##which(device, 1, bases, begins, sizes, types);                                       \
    break;                                                                                                   \
  case NOWAIT:                                                                                               \
    __tgt_target_data_##which##_nowait(device, 1, bases, begins, sizes, types, 0, 0, 0, 0);                  \
    break;                                                                                                   \
  case MAPPER:                                                                                               \
    __tgt_target_data_##which##_mapper(&here, device, 1, bases, begins, sizes, types, names, mappers);       \
    break;                                                                                                   \
  default:                                                                                                   \
    __tgt_target_data_##which##_nowait_mapper(&here, device, 1, bases, begins, sizes, types, names, mappers, \
                                              0, 0, 0, 0);                                                   \
  }

static void begin(enum form form, int64_t device, int64_t type) {
  types[0] = type;
  CALL(begin, form, device);
}

static void end(enum form form, int64_t device, int64_t type) {
  types[0] = type;
  CALL(end, form, device);
}

static void update(enum form form, int64_t device, int64_t type) {
  types[0] = type;
  CALL(update, form, device);
}

static void fill(int value) {
  for (int i = 0; i < 8; ++i)
    data[i] = value + i;
}

static int on_device(void) {
  int value;
  CHECK(omp_target_memcpy(&value, omp_get_mapped_ptr(data + 2, 0), 4, 0, 0, omp_get_initial_device(), 0) == 0);
  return value;
}

int main(int argc, char **argv) {
  register_kernels(argv[1]);
  for (enum form form = PLAIN; form < FORMS; ++form) {
    fill(10);
    begin(form, 0, TO);
    CHECK(omp_target_is_present(data + 2, 0) && !omp_target_is_present(data + 6, 0));
    CHECK(on_device() == 12);
    // Present already: counted, not copied, unless always.
    fill(20);
    begin(form, 0, TO);
    CHECK(on_device() == 12);
    begin(form, 0, TO | ALWAYS);
    CHECK(on_device() == 22);
    // Both ways, only what is in the section.
    fill(30);
    update(form, 0, TO);
    CHECK(on_device() == 32);
    fill(40);
    update(form, 0, FROM);
    CHECK(data[1] == 41 && data[2] == 32 && data[5] == 35 && data[6] == 46);
    // Two references, one reference, copied back with the last.
    fill(50);
    end(form, 0, FROM);
    end(form, 0, FROM);
    CHECK(data[2] == 52 && omp_target_is_present(data + 2, 0));
    end(form, 0, FROM);
    CHECK(data[2] == 32 && !omp_target_is_present(data + 2, 0));
    // All references at once.
    begin(form, 0, 0);
    begin(form, 0, 0);
    end(form, 0, DELETE);
    CHECK(!omp_target_is_present(data + 2, 0));

    // Not present: ignored at the end and in updates.
    end(form, 0, FROM);
    update(form, 0, TO);
    // The host has the data.
    begin(form, omp_get_initial_device(), TO);
    update(form, omp_get_initial_device(), TO);
    end(form, omp_get_initial_device(), FROM);
    CHECK(!omp_target_is_present(data + 2, 0));

    CHECK(ABORTS(begin(form, 0, PRESENT)));
    CHECK(ABORTS(end(form, 0, PRESENT)));
    CHECK(ABORTS(update(form, 0, TO | PRESENT)));
    CHECK(ABORTS(begin(form, 99, TO)));
    CHECK(ABORTS(end(form, 99, TO)));
    CHECK(ABORTS(update(form, 99, TO)));
    CHECK(ABORTS(begin(form, 0, 1 << 20)));
    // The section and more.
    CHECK(ABORTS({
      begin(form, 0, TO);
      sizes[0] = 24;
      begin(form, 0, TO);
    }));
  }
  return 0;
}
