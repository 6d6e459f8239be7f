// Every kind of memory, atomic operations with scopes, exchanges between lanes, barriers, messages.
#define KERNEL __attribute__((amdgpu_kernel, visibility("protected")))
#define GLOBAL __attribute__((address_space(1)))
#define LOCAL __attribute__((address_space(3)))
#define CONSTANT __attribute__((address_space(4)))
#define LANE __builtin_amdgcn_workitem_id_x()

#define UNSET __attribute__((loader_uninitialized))
static LOCAL UNSET int shared[256];
static LOCAL UNSET double wide[64];
int table[8] = {1, 2, 3};

#define COPIES(T, name)                                                                                                \
  KERNEL void name(GLOBAL T *a, T *flat, CONSTANT const T *uniform, LOCAL T *shared, int n) {                          \
    T mine[12];                                                                                                        \
    for (int i = 0; i < 12; ++i)                                                                                       \
      mine[i] = a[i * 64 + LANE];                                                                                      \
    shared[LANE] = mine[n & 7] + uniform[n];                                                                           \
    __builtin_amdgcn_s_barrier();                                                                                      \
    flat[LANE] = shared[LANE ^ 1];                                                                                     \
    a[n + 64] = mine[n + 1] + uniform[3];                                                                              \
    a[LANE - 4] = flat[LANE + 500];                                                                                    \
  }
typedef int int3 __attribute__((ext_vector_type(3)));
typedef int int4 __attribute__((ext_vector_type(4)));
COPIES(signed char, chars)
COPIES(unsigned char, uchars)
COPIES(short, shorts)
COPIES(int, ints)
COPIES(long, longs)
COPIES(int3, ints3)
COPIES(int4, ints4)

KERNEL void statics(GLOBAL int *a) {
  shared[LANE] = a[LANE] + table[LANE & 7];
  wide[LANE & 63] = a[LANE];
  __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "workgroup");
  a[LANE] = shared[255 - LANE] + (int)wide[63 - (LANE & 63)];
}

#define ATOMICS(T, name)                                                                                               \
  KERNEL void name(GLOBAL T *a, T *flat, LOCAL T *shared, T x) {                                                       \
    a[1] = __scoped_atomic_fetch_add(a, x, __ATOMIC_SEQ_CST, __MEMORY_SCOPE_SYSTEM);                                   \
    __scoped_atomic_fetch_sub(a, LANE, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);                                       \
    a[2] = __scoped_atomic_fetch_max(flat, x, __ATOMIC_ACQ_REL, __MEMORY_SCOPE_WRKGRP);                                \
    __scoped_atomic_fetch_min(flat, LANE, __ATOMIC_RELEASE, __MEMORY_SCOPE_WVFRNT);                                    \
    a[3] = __scoped_atomic_fetch_xor(shared, x, __ATOMIC_SEQ_CST, __MEMORY_SCOPE_WRKGRP);                              \
    __scoped_atomic_fetch_or(shared, LANE, __ATOMIC_RELAXED, __MEMORY_SCOPE_SYSTEM);                                   \
    T expected = x;                                                                                                    \
    a[4] = __scoped_atomic_compare_exchange_n(a, &expected, 3, 0, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED,                  \
                                              __MEMORY_SCOPE_SYSTEM);                                                  \
    a[5] = __scoped_atomic_exchange_n(flat, expected, __ATOMIC_ACQUIRE, __MEMORY_SCOPE_DEVICE);                        \
    a[6] = __scoped_atomic_load_n(a, __ATOMIC_ACQUIRE, __MEMORY_SCOPE_SYSTEM);                                         \
    __scoped_atomic_store_n(shared, x, __ATOMIC_RELEASE, __MEMORY_SCOPE_WRKGRP);                                       \
  }
ATOMICS(int, atomic_ints)
ATOMICS(unsigned, atomic_uints)
ATOMICS(long, atomic_longs)
ATOMICS(unsigned long, atomic_ulongs)
KERNEL void atomic_floats(GLOBAL float *a, GLOBAL double *d, LOCAL float *shared) {
  a[1] = __scoped_atomic_fetch_add(a, 1.5f, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
  __scoped_atomic_fetch_add(d, 2.5, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
  __scoped_atomic_fetch_add(shared, a[2], __ATOMIC_RELAXED, __MEMORY_SCOPE_WRKGRP);
  __scoped_atomic_fetch_max(d, 2.5, __ATOMIC_RELAXED, __MEMORY_SCOPE_WRKGRP);
}

KERNEL void lanes(GLOBAL int *a, GLOBAL long *w, int n) {
  int x = a[LANE];
  a[LANE] = __builtin_amdgcn_update_dpp(x, n, 0x111, 0xf, 0xf, 0) + __builtin_amdgcn_mov_dpp(x, 0x1b, 0xf, 0x3, 1) +
            __builtin_amdgcn_update_dpp(0, x, 0x142, 0xa, 0xf, 0) + __builtin_amdgcn_update_dpp(0, x, 0x143, 0xc, 0xf, 1) +
            __builtin_amdgcn_update_dpp(x, x, 0x140, 0xf, 0xf, 0) + __builtin_amdgcn_update_dpp(x, x, 0x138, 0xf, 0xf, 0);
  a[LANE + 64] = __builtin_amdgcn_ds_swizzle(x, 0x8055) + __builtin_amdgcn_ds_swizzle(x, 0x041f) +
                 __builtin_amdgcn_ds_swizzle(x, 0x1234) + __builtin_amdgcn_ds_swizzle(x, 0x7c1f);
  a[LANE + 128] = __builtin_amdgcn_ds_bpermute(x, n) + __builtin_amdgcn_ds_permute(n, x) +
                  __builtin_amdgcn_readlane(x, n) + __builtin_amdgcn_readfirstlane(x);
  a[LANE + 192] = __builtin_amdgcn_mbcnt_hi(n, __builtin_amdgcn_mbcnt_lo(x, 0));
  w[0] = __builtin_amdgcn_uicmp(x, n, 33) + __builtin_amdgcn_read_exec() + __builtin_amdgcn_fcmpf(x, n, 5);
  w[1] = __builtin_amdgcn_s_memtime() + __builtin_amdgcn_s_memrealtime() + __builtin_amdgcn_s_getpc();
}

KERNEL void system(GLOBAL int *a) {
  a[0] = __builtin_amdgcn_s_getreg(0x1881) + __builtin_amdgcn_workgroup_id_y() + __builtin_amdgcn_workitem_id_z();
  __builtin_amdgcn_s_setreg(0x1801, 3);
  __builtin_amdgcn_s_sleep(5);
  __builtin_amdgcn_s_setprio(3);
  __builtin_amdgcn_s_sendmsg(1, 0);
  __builtin_amdgcn_s_waitcnt(0x3f7);
  __builtin_amdgcn_s_dcache_inv();
#if !defined(__gfx942__)
  __builtin_amdgcn_buffer_wbinvl1_vol();
#endif
  a[1] = __builtin_amdgcn_is_shared((__attribute__((address_space(0))) void *)(long)a) + (int)(long)__builtin_amdgcn_dispatch_ptr();
}

KERNEL void buffers(__amdgpu_buffer_rsrc_t buffer, GLOBAL int *a, int n) {
  a[LANE] = __builtin_amdgcn_raw_buffer_load_b32(buffer, LANE, n, 0) +
            __builtin_amdgcn_raw_buffer_load_b8(buffer, 16, 0, 1) + __builtin_amdgcn_raw_buffer_load_b64(buffer, n, 4, 3)[1];
  __builtin_amdgcn_raw_buffer_store_b32(a[1], buffer, LANE, 0, 0);
  __builtin_amdgcn_raw_buffer_store_b16(a[2], buffer, LANE + 64, n, 2);
}
