! covers: omp_lib: device numbers, is_initial_device, device clauses, host fallback
! host: equal
program device_api
  use omp_lib
  implicit none
  integer :: a(3), d
  logical :: on_host
  a = [1, 2, 3]
  print *, omp_get_initial_device() == omp_get_num_devices()
  !$omp target map(tofrom: a)
  a(1) = 10
  !$omp end target
  on_host = .false.
  !$omp target device(omp_get_initial_device()) map(tofrom: a) map(from: on_host)
  a(2) = 20
  on_host = omp_is_initial_device()
  !$omp end target
  print *, on_host
  do d = 0, omp_get_num_devices() - 1
    !$omp target device(d) map(tofrom: a)
    a(3) = a(3) + 1
    !$omp end target
  end do
  print '(2i5)', a(1), a(2)
  print *, a(3) == 3 + omp_get_num_devices()
end program device_api
