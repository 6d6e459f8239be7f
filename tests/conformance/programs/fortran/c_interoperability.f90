! covers: omp_target_alloc and memcpy through omp_lib with C pointers, is_device_ptr, use_device_addr
! flags: -fopenmp-version=52
! host: equal
program c_interoperability
  use omp_lib
  use iso_c_binding
  implicit none
  integer(c_int), target :: source(8), sink(8)
  integer(c_int) :: status
  type(c_ptr) :: device_memory
  integer :: i, device, host
  device = omp_get_default_device()
  host = omp_get_initial_device()
  do i = 1, 8
    source(i) = i * i
  end do
  sink = 0
  device_memory = omp_target_alloc(32_c_size_t, device)
  print *, c_associated(device_memory)
  status = omp_target_memcpy(device_memory, c_loc(source), 32_c_size_t, 0_c_size_t, 0_c_size_t, device, host)
  status = status + omp_target_memcpy(c_loc(sink), device_memory, 16_c_size_t, 0_c_size_t, 8_c_size_t, host, device)
  print '(i3, 8i4)', status, sink
  call omp_target_free(device_memory, device)
  !$omp target data map(tofrom: sink) use_device_addr(sink)
  !$omp target has_device_addr(sink)
  sink(8) = 88
  !$omp end target
  !$omp end target data
  print '(8i4)', sink
end program c_interoperability
