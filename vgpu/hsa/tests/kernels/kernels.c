// What `programs/launches.c` and its like launch. All are for work-groups of 64 in one dimension, but `place`.
#define KERNEL __attribute__((amdgpu_kernel, visibility("protected")))
#define GLOBAL __attribute__((address_space(1)))
#define LOCAL __attribute__((address_space(3)))
#define BARRIER() __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "workgroup"), __builtin_amdgcn_s_barrier()

static int item(void) { return (int)(__builtin_amdgcn_workgroup_id_x() * 64 + __builtin_amdgcn_workitem_id_x()); }

__attribute__((visibility("protected"))) int counter = 5;
__attribute__((visibility("protected"))) const int fixed[4] = {1, 2, 3, 4};
__attribute__((visibility("protected"))) int *pointer = &counter;
__attribute__((weak)) extern int elsewhere;
__attribute__((visibility("default"))) int *far = &elsewhere;

KERNEL void saxpy(GLOBAL float *y, GLOBAL const float *x, float a, int n) {
  int at = item();
  if (at < n) y[at] = a * x[at] + y[at];
}

// One sum for each work-group, by halves in LDS.
KERNEL void reduce(GLOBAL int *sums, GLOBAL const int *values) {
  static LOCAL __attribute__((loader_uninitialized)) int part[64];
  int lane = (int)__builtin_amdgcn_workitem_id_x();
  part[lane] = values[item()];
  BARRIER();
  for (int half = 32; half > 0; half /= 2) {
    if (lane < half) part[lane] += part[lane + half];
    BARRIER();
  }
  if (lane == 0) sums[__builtin_amdgcn_workgroup_id_x()] = part[0];
}

KERNEL void count(GLOBAL unsigned *total, int by) {
  __atomic_fetch_add((unsigned *)total, (unsigned)by, __ATOMIC_RELAXED);
}

// The stack: private memory that is indexed.
KERNEL void stack(GLOBAL int *out, GLOBAL const int *order) {
  int own[256];
  for (int at = 0; at < 256; ++at) own[at] = at * item();
  int sum = 0;
  for (int at = 0; at < 32; ++at) sum += own[order[at] & 255];
  out[item()] = sum;
}

KERNEL void variables(GLOBAL int *out) {
  counter += 1;
  out[0] = *pointer + fixed[3];
  out[1] = &elsewhere ? elsewhere : -1;
}

KERNEL void place(GLOBAL int *out) {
  int x = (int)(__builtin_amdgcn_workgroup_id_x() * 4 + __builtin_amdgcn_workitem_id_x());
  int y = (int)(__builtin_amdgcn_workgroup_id_y() * 2 + __builtin_amdgcn_workitem_id_y());
  int z = (int)(__builtin_amdgcn_workgroup_id_z() * 2 + __builtin_amdgcn_workitem_id_z());
  out[(z * 6 + y) * 8 + x] += x + 10 * y + 100 * z;
}

// What is in the packet and the queue.
KERNEL void packet(GLOBAL long *out) {
  const __attribute__((address_space(4))) unsigned *own = __builtin_amdgcn_dispatch_ptr();
  out[0] = own[3];
  out[1] = ((const __attribute__((address_space(4))) long *)own)[5];
  out[2] = (long)__builtin_amdgcn_queue_ptr();
}

// Waits for the host, and lets it know.
KERNEL void wait(GLOBAL long *flag, GLOBAL long *answer) {
  while (__atomic_load_n((long *)flag, __ATOMIC_ACQUIRE) == 0) __builtin_amdgcn_s_sleep(1);
  __atomic_store_n((long *)answer, 0, __ATOMIC_RELEASE);
}

KERNEL void forever(GLOBAL int *out) {
  for (;;) __atomic_fetch_add((int *)out, 1, __ATOMIC_RELAXED);
}

KERNEL void wild(GLOBAL int *out, int at) {
  if (item() == 70) out[at] = 1;
}

KERNEL void trap(GLOBAL int *out) {
  out[item()] = 1;
  __builtin_trap();
}

KERNEL void times(GLOBAL unsigned long *out) { out[0] = __builtin_readsteadycounter(); }

// Goes wherever the host says.
KERNEL void branch(GLOBAL unsigned long *where) { ((void (*)(void))(unsigned long)where)(); }
