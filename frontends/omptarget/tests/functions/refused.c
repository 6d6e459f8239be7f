// functions: __tgt_activate_record_replay __tgt_target_kernel_replay __tgt_register_rpc_callback
//
// What needs the stock plugins says so and fails; nothing crashes.
#include "abi.h"

int __tgt_activate_record_replay(int64_t, uint64_t, void *, bool, bool, uint64_t *);
int __tgt_target_kernel_replay(ident_t *, int64_t, void *, void *, int64_t, void **, ptrdiff_t *, int32_t, int32_t,
                               int32_t, uint64_t);

void __tgt_register_rpc_callback(unsigned (*)(void *, unsigned));

static unsigned serve(void *port, unsigned lanes) { return 0; }

// What `statement` writes to standard error.
#define SAYS(statement, text)                                                                                \
  do {                                                                                                       \
    char said[4096] = {0};                                                                                   \
    int ends[2], before = dup(2);                                                                            \
    CHECK(pipe(ends) == 0);                                                                                  \
    dup2(ends[1], 2);                                                                                        \
    statement;                                                                                               \
    dup2(before, 2);                                                                                         \
    close(ends[1]);                                                                                          \
    CHECK(read(ends[0], said, sizeof said - 1) > 0);                                                         \
    close(ends[0]);                                                                                          \
    CHECK(strstr(said, text) && strstr(said, "help:"));                                                      \
  } while (0)

int main(int argc, char **argv) {
  register_kernels(argv[1]);
  uint64_t offset = 0;
  int failed = 0;
  SAYS(failed = __tgt_activate_record_replay(0, 1 << 20, 0, true, true, &offset) != 0,
       "__tgt_activate_record_replay is not supported");
  CHECK(failed);
  SAYS(failed = __tgt_target_kernel_replay(0, 0, &increment_region, 0, 0, 0, 0, 0, 1, 1, 0) != 0,
       "__tgt_target_kernel_replay is not supported");
  CHECK(failed);
  // Flang's library calls it in every program: nothing is said, and nothing is called.
  __tgt_register_rpc_callback(serve);
  return 0;
}
