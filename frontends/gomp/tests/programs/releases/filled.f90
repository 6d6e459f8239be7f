! Since GCC 16: fills of device memory.
program main
  use omp_lib
  use iso_c_binding
  implicit none
  integer(1), target :: here(16)
  type(c_ptr) :: there, same
  integer :: device
  device = omp_get_default_device()
  there = omp_target_alloc(16_c_size_t, device)
  same = omp_target_memset(there, 7_c_int, 16_c_size_t, device)
  if (.not. c_associated(same, there)) error stop
  if (omp_target_memcpy(c_loc(here), there, 16_c_size_t, 0_c_size_t, 0_c_size_t, &
                        omp_get_initial_device(), device) /= 0) error stop
  if (any(here /= 7)) error stop
  call omp_target_free(there, device)
  print '(a)', "passed"
end program
