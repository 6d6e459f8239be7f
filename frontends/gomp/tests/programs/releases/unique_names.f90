! Since GCC 15: unique names of devices.
program main
  use omp_lib
  implicit none
  character(:), pointer :: name
  integer :: i
  do i = 0, omp_get_num_devices() - 1
    name => omp_get_uid_from_device(i)
    if (len(name) < 4) error stop
    if (omp_get_device_from_uid(name) /= i) error stop
  end do
  name => omp_get_uid_from_device(omp_initial_device)
  if (omp_get_device_from_uid(name) /= omp_initial_device) error stop
  if (omp_get_device_from_uid("none of ours") /= omp_invalid_device) error stop
  print '(a)', "passed"
end program
