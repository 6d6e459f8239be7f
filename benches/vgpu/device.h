/* What a kernel needs of the device, in the words of nvcc, or in clang's own
 * without CUDA's headers. */
#ifndef GANGWAY_BENCH_DEVICE_H
#define GANGWAY_BENCH_DEVICE_H

#ifdef __CUDACC__

#define KERNEL extern "C" __global__ void
#define GLOBAL
#define SHARED __shared__
#define FUNCTION static __device__ inline

#define THREAD_X threadIdx.x
#define THREAD_Y threadIdx.y
#define BLOCK_X blockIdx.x
#define BLOCK_Y blockIdx.y
#define BLOCK_Z blockIdx.z
#define THREADS_X blockDim.x
#define THREADS_Y blockDim.y
#define BLOCKS_X gridDim.x

#define SQRT sqrtf
#define shuffle_down(value, distance) __shfl_down_sync(0xffffffffu, value, distance)
#define atomic_add_f64 atomicAdd
#define atomic_add_i32 atomicAdd

#else

#define KERNEL __attribute__((nvptx_kernel)) void
#define GLOBAL __attribute__((address_space(1)))
#define SHARED __attribute__((address_space(3)))
#define FUNCTION static inline

#define THREAD_X __nvvm_read_ptx_sreg_tid_x()
#define THREAD_Y __nvvm_read_ptx_sreg_tid_y()
#define BLOCK_X __nvvm_read_ptx_sreg_ctaid_x()
#define BLOCK_Y __nvvm_read_ptx_sreg_ctaid_y()
#define BLOCK_Z __nvvm_read_ptx_sreg_ctaid_z()
#define THREADS_X __nvvm_read_ptx_sreg_ntid_x()
#define THREADS_Y __nvvm_read_ptx_sreg_ntid_y()
#define BLOCKS_X __nvvm_read_ptx_sreg_nctaid_x()

#define SQRT __builtin_sqrtf
#define shuffle_down(value, distance) __nvvm_shfl_sync_down_i32(-1, value, distance, 31)
#define atomic_add_f64 __nvvm_atom_add_gen_d
#define atomic_add_i32 __nvvm_atom_add_gen_i

#endif

FUNCTION void synchronise(void) { __syncthreads(); }

/* The sum of a warp's values, in its first lane. */
FUNCTION double warp_sum(double value) {
  for (int distance = 16; distance > 0; distance /= 2) {
    union {
      double value;
      int half[2];
    } mine = {value}, other;
    other.half[0] = shuffle_down(mine.half[0], distance);
    other.half[1] = shuffle_down(mine.half[1], distance);
    value += other.value;
  }
  return value;
}

#endif
