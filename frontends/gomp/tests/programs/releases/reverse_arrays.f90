! Since GCC 13: allocatable arrays in a region for the host.
program main
  use omp_lib
  implicit none
  !$omp requires reverse_offload
  real, allocatable :: a(:, :)
  integer :: n
  real :: s
  n = 4
  allocate(a(n, n))
  a = 1; s = 0
  !$omp target map(tofrom: a, s)
    a(2, :) = 5
    !$omp target device(ancestor: 1) map(always, tofrom: s, a)
      s = sum(a)
      a(1, 1) = 100
    !$omp end target
    s = s + a(1, 1)
  !$omp end target
  if (s /= 12 + 20 + 100 .or. a(1, 1) /= 100) error stop
  print '(a)', "passed"
end program
