// Floating point: all precisions, conversions, approximations.
typedef unsigned int u32;
typedef unsigned long u64;
typedef unsigned char u8;
typedef short s16;
#define KERNEL __attribute__((nvptx_kernel))
#define SHARED __attribute__((address_space(3)))
#define CONST __attribute__((address_space(4)))

KERNEL void flt(float*o, double*q, float a, float b, double c, _Float16 h, __bf16 bf) {
  o[0] = a/b;
  o[1] = __builtin_sqrtf(a);
  o[2] = __builtin_fmaf(a, b, a);
  o[3] = __builtin_fabsf(a);
  o[4] = __builtin_floorf(a);
  o[5] = __builtin_ceilf(a);
  o[6] = __builtin_truncf(a);
  o[7] = __builtin_rintf(a);
  o[8] = __builtin_copysignf(a, b);
  o[9] = (int)a;
  o[10] = (u32)c;
  o[11] = h*h+h;
  o[12] = bf;
  o[13] = (float)(h+1);
  o[14] = a<b?a:b;
  o[15] = __builtin_fminf(a, b);
  o[16] = __builtin_isnan(a);
  o[17] = (float)(long)c;
  o[18] = (float)(u64)c;
  q[0] = __builtin_sqrt(c);
  q[1] = c/a;
  q[2] = __builtin_fma(c, c, a);
  q[3] = c!=c;
  q[4] = a == b&&c>1;
  q[5] = (u8)c;
  q[6] = __builtin_fmod(1, 2);
  q[7] = (double)h;
  ((_Float16*)q)[90] = c;
  ((__bf16*)q)[99] = a;
  ((_Float16*)q)[91] = a;
  o[19] = __builtin_roundf(a);
  o[20] = -a;
  q[8] = __nvvm_ex2_approx_f(a)
          + __nvvm_sin_approx_f(a)
          + __nvvm_rsqrt_approx_f(b)
          + __nvvm_lg2_approx_f(a)
          + __nvvm_rcp_rn_f(a)
          + __nvvm_div_approx_f(a, b)
          + __nvvm_sqrt_approx_f(a)
          + __nvvm_rcp_approx_ftz_d(c)
          + __nvvm_add_rz_f(a, b)
          + __nvvm_fma_rm_f(a, b, a)
          + __nvvm_saturate_f(a);
  bf += bf*bf;
  ((__bf16*)q)[93] = bf;
}
