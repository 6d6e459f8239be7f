// Map-type bits of a compiler that does not exist yet.
// run: begin args=begin signal=ABRT
// run: end args=end signal=ABRT
// run: update args=update signal=ABRT
#include <stdint.h>
#include <string.h>

void __tgt_target_data_begin_mapper(void *, int64_t, int32_t, void **, void **, int64_t *, int64_t *, void **,
                                    void **);
void __tgt_target_data_end_mapper(void *, int64_t, int32_t, void **, void **, int64_t *, int64_t *, void **,
                                  void **);
void __tgt_target_data_update_mapper(void *, int64_t, int32_t, void **, void **, int64_t *, int64_t *, void **,
                                     void **);

int main(int argc, char **argv) {
  int known = 0, strange = 0;
#pragma omp target map(tofrom : known)
  known = 1;
  void *bases[] = {&known, &strange};
  int64_t sizes[] = {4, 4}, types[] = {1, 1 | 1 << 22};
  void *names[] = {";known;unknown_map_type.c;18;7;;", ";strange;unknown_map_type.c;18;18;;"};
  struct {
    int32_t reserved, flags, reserved_2, reserved_3;
    const char *source;
  } location = {0, 2, 0, 0, ";unknown_map_type.c;main;28;3;;"};
  const char *which = argv[argc - 1];
  if (strcmp(which, "begin") == 0)
    __tgt_target_data_begin_mapper(&location, 0, 2, bases, bases, sizes, types, names, 0);
  else if (strcmp(which, "end") == 0)
    __tgt_target_data_end_mapper(&location, 0, 2, bases, bases, sizes, types, names, 0);
  else
    __tgt_target_data_update_mapper(&location, 0, 2, bases, bases, sizes, types, names, 0);
  return 0;
}
