! Since GCC 13: where a variable is on the device.
program main
  use omp_lib
  use iso_c_binding
  implicit none
  integer, target :: a(4)
  integer, target :: got_
  type(c_ptr) :: there
  a = [1, 2, 3, 4]
  if (c_associated(omp_get_mapped_ptr(c_loc(a), omp_get_default_device()))) error stop
  !$omp target enter data map(to: a)
  there = omp_get_mapped_ptr(c_loc(a), omp_get_default_device())
  if (.not. c_associated(there)) error stop
  if (omp_target_memcpy(c_loc(got_), there, 4_c_size_t, 0_c_size_t, 8_c_size_t, &
                        omp_get_initial_device(), omp_get_default_device()) /= 0) error stop
  if (got_ /= 3) error stop
  !$omp target exit data map(delete: a)
  print '(a)', "passed"
end program
