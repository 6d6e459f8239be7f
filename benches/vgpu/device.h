/* What a kernel needs of the device, in clang's own words: no CUDA headers. */
#ifndef GANGWAY_BENCH_DEVICE_H
#define GANGWAY_BENCH_DEVICE_H

#define KERNEL __attribute__((nvptx_kernel)) void
#define GLOBAL __attribute__((address_space(1)))
#define SHARED __attribute__((address_space(3)))

#define THREAD_X __nvvm_read_ptx_sreg_tid_x()
#define THREAD_Y __nvvm_read_ptx_sreg_tid_y()
#define BLOCK_X __nvvm_read_ptx_sreg_ctaid_x()
#define BLOCK_Y __nvvm_read_ptx_sreg_ctaid_y()
#define BLOCK_Z __nvvm_read_ptx_sreg_ctaid_z()
#define THREADS_X __nvvm_read_ptx_sreg_ntid_x()
#define THREADS_Y __nvvm_read_ptx_sreg_ntid_y()
#define BLOCKS_X __nvvm_read_ptx_sreg_nctaid_x()

static inline void synchronise(void) { __syncthreads(); }

/* The sum of a warp's values, in its first lane. */
static inline double warp_sum(double value) {
  for (int distance = 16; distance > 0; distance /= 2) {
    union {
      double value;
      int half[2];
    } mine = {value}, other;
    other.half[0] = __nvvm_shfl_sync_down_i32(-1, mine.half[0], distance, 31);
    other.half[1] = __nvvm_shfl_sync_down_i32(-1, mine.half[1], distance, 31);
    value += other.value;
  }
  return value;
}

#endif
