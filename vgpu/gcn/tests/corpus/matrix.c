// Matrix instructions and dot products: gfx908 and later.
#define KERNEL __attribute__((amdgpu_kernel, visibility("protected")))
#define GLOBAL __attribute__((address_space(1)))
#define LANE __builtin_amdgcn_workitem_id_x()
typedef float float4 __attribute__((ext_vector_type(4)));
typedef float float16 __attribute__((ext_vector_type(16)));
typedef float float32 __attribute__((ext_vector_type(32)));
typedef int int4 __attribute__((ext_vector_type(4)));
typedef int int16 __attribute__((ext_vector_type(16)));
typedef _Float16 half2 __attribute__((ext_vector_type(2)));
typedef _Float16 half4 __attribute__((ext_vector_type(4)));
typedef double double4 __attribute__((ext_vector_type(4)));

KERNEL void floats(GLOBAL float32 *a, GLOBAL float16 *b, GLOBAL float4 *c, float x, float y) {
  a[LANE] = __builtin_amdgcn_mfma_f32_32x32x1f32(x, y, a[LANE], 1, 0, 2);
  b[LANE] = __builtin_amdgcn_mfma_f32_32x32x2f32(x, y, b[LANE], 0, 0, 0);
  c[LANE] = __builtin_amdgcn_mfma_f32_16x16x4f32(x, y, c[LANE], 0, 0, 1);
  c[LANE + 64] = __builtin_amdgcn_mfma_f32_4x4x1f32(x, y, (float4){1, 1, 1, 1}, 4, 3, 0);
}
KERNEL void halves(GLOBAL half4 *h, GLOBAL float16 *b, GLOBAL float4 *c) {
  b[LANE] = __builtin_amdgcn_mfma_f32_32x32x8f16(h[LANE], h[LANE + 64], b[LANE], 0, 0, 0);
  c[LANE] = __builtin_amdgcn_mfma_f32_16x16x16f16(h[LANE], h[LANE + 64], c[LANE], 0, 0, 0);
}
#if !defined(__gfx942__)
KERNEL void bytes(GLOBAL int16 *b, GLOBAL int4 *c, int x, int y) {
  b[LANE] = __builtin_amdgcn_mfma_i32_32x32x8i8(x, y, b[LANE], 0, 0, 0);
  c[LANE] = __builtin_amdgcn_mfma_i32_16x16x16i8(x, y, c[LANE], 0, 0, 0);
}
#else
typedef short short4 __attribute__((ext_vector_type(4)));
typedef _Float16 half8 __attribute__((ext_vector_type(8)));
KERNEL void newest(GLOBAL int4 *c, GLOBAL float4 *f, GLOBAL half4 *h, GLOBAL half8 *k, long x, long y, int index) {
  c[LANE] = __builtin_amdgcn_mfma_i32_16x16x32_i8(x, y, c[LANE], 0, 0, 0);
  f[LANE] = __builtin_amdgcn_mfma_f32_16x16x32_fp8_bf8(x, y, f[LANE], 0, 0, 0);
  f[LANE + 64] = __builtin_amdgcn_smfmac_f32_16x16x32_f16(h[LANE], k[LANE], f[LANE], index, 1, 2);
  f[LANE + 128].x = __builtin_amdgcn_cvt_pk_f32_fp8(index, 1)[1];
}
#endif
#if defined(__gfx90a__) || defined(__gfx942__)
KERNEL void doubles(GLOBAL double4 *d, double x, double y) {
  d[LANE] = __builtin_amdgcn_mfma_f64_16x16x4f64(x, y, d[LANE], 0, 0, 1);
  d[LANE].x += __builtin_amdgcn_mfma_f64_4x4x4f64(x, y, d[LANE].y, 0, 0, 0);
}
#endif
KERNEL void dots(GLOBAL int *a, GLOBAL float *f, half2 x, half2 y, int n) {
  f[LANE] = __builtin_amdgcn_fdot2(x, y, f[LANE], 1);
  a[LANE] = __builtin_amdgcn_sdot4(a[LANE], n, a[LANE + 1], 0) + __builtin_amdgcn_udot8(a[LANE], n, 5, 1);
}
