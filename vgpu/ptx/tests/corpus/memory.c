// Streams, shared memory with barriers, atomics, vectors.
typedef unsigned int u32;
typedef unsigned long u64;
typedef unsigned char u8;
typedef short s16;
#define KERNEL __attribute__((nvptx_kernel))
#define SHARED __attribute__((address_space(3)))
#define CONST __attribute__((address_space(4)))
static SHARED float tile[256];
CONST float coef[4]={1,2,3,4};

KERNEL void saxpy(float*y, const float*restrict x, float a, int n) {
  int i = __nvvm_read_ptx_sreg_ctaid_x()*__nvvm_read_ptx_sreg_ntid_x()+__nvvm_read_ptx_sreg_tid_x();
  if(i<n)y[i] = a*x[i]+y[i];
}

KERNEL void red(float*y, float*x, int n) {
  int t = __nvvm_read_ptx_sreg_tid_x();
  tile[t] = x[t]*coef[t&3];
  __syncthreads();
  for(int s = 128;s;s>>=1) {
    if(t<s)tile[t] += tile[t+s];
    __syncthreads();
  }
  if(!t)*y = tile[0];
  int v = t;
  v+=__nvvm_shfl_sync_down_i32(-1,v,16,31);
  v+=__nvvm_shfl_sync_bfly_i32(-1,v,8,31);
  if(__nvvm_vote_any_sync(-1,v>3))y[1] = v;
  y[2] = __nvvm_vote_ballot_sync(-1,v&1);
  __nvvm_membar_gl();
  __nvvm_membar_cta();
  __nvvm_membar_sys();
}

#ifdef SM_70
KERNEL void at(int*p, u64*q, float*f, double*d, SHARED int*s) {
  __atomic_fetch_add(p, 1, 5);
  __atomic_fetch_add(q, 1, 0);
  __atomic_fetch_max(p, 3, 0);
  __atomic_fetch_and(p, 3, 2);
  __atomic_exchange_n(q, 4, 3);
  int e = 3;
  __atomic_compare_exchange_n(p, &e, 5, 0, 5, 5);
  __atomic_fetch_add(f, 1.f, 0);
  __atomic_fetch_add(d, 1., 0);
  __atomic_fetch_sub(s, 2, 0);
  p[1] = __atomic_load_n(p, 2);
  __atomic_store_n(p, 3, 3);
  __atomic_thread_fence(5);
  __atomic_thread_fence(2);
  p[2] = *(volatile int*)q;
  *(volatile SHARED int*)s = 4;
  __nvvm_atom_inc_gen_ui((u32*)p, 7);
  u8 e8 = 1;
  __atomic_compare_exchange_n((u8*)p, &e8, 5, 0, 0, 0);
  __atomic_fetch_nand(p, 3, 4);
  __scoped_atomic_fetch_add(p, 1, __ATOMIC_RELAXED, __MEMORY_SCOPE_WRKGRP);
  __scoped_atomic_fetch_add(p, 1, __ATOMIC_ACQ_REL, __MEMORY_SCOPE_DEVICE);
}
#else
// Without the orders that need sm_70.
KERNEL void at(int *p, u64 *q, float *f, SHARED int *s) {
  __atomic_fetch_add(p, 1, 0);
  __atomic_fetch_sub(s, 2, 0);
  __atomic_fetch_add(q, 1, 0);
  __atomic_fetch_max(p, 3, 0);
  __atomic_fetch_and(p, 3, 0);
  __atomic_exchange_n(p, 4, 0);
  __atomic_fetch_add(f, 1.f, 0);
  p[2] = *(volatile int *)q;
}
#endif

typedef float f4 __attribute__((ext_vector_type(4)));
typedef int i2 __attribute__((ext_vector_type(2)));
typedef _Float16 h2 __attribute__((ext_vector_type(2)));
typedef u8 b4 __attribute__((ext_vector_type(4)));

KERNEL void vec(f4*a, i2*b, h2*h, b4*c) {
  a[1] = a[0]*2.f+a[2];
  b[0] = b[1]+b[2];
  h[0] = h[1]*h[2]+h[3];
  c[0] = c[1]+c[2];
}
