/* What clang's kernels call at their beginning and end, without a device runtime: the
   first thread of each team runs the region. */
#ifdef __NVPTX__
#pragma omp begin declare target device_type(nohost)
extern "C" {
__attribute__((used)) int __kmpc_target_init(void *, void *) {
  return __nvvm_read_ptx_sreg_tid_x() == 0 ? -1 : 0;
}
__attribute__((used)) void __kmpc_target_deinit() {}
}
#pragma omp end declare target
#endif
