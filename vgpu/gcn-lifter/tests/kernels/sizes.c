// The sizes of the work-group, which stand among the kernel's arguments: there the code is made with their values.
#include "run.h"

static void compute(struct run *run) {
#ifdef __AMDGCN__
  u32 size = __builtin_amdgcn_workgroup_size_x(), other = __builtin_amdgcn_workgroup_size_y();
#else
  u32 size = GROUP, other = 1;
#endif
  OUT(size);
  OUT(other);
  for (u32 n = run->item % GROUP; n < NUMBERS / 64; n += size) OUT(IN(n) * size + other);
  OUT(size < 128 ? run->item : 0);
}
