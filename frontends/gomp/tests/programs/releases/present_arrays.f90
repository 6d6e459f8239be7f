! Since GCC 14: data that has to be there.
program main
  implicit none
  integer, allocatable :: a(:)
  integer :: s
  allocate(a(5), source = 2)
  !$omp target enter data map(to: a)
  a(5) = 50
  !$omp target map(present, to: a) map(from: s)
    s = sum(a)
  !$omp end target
  if (s /= 10) error stop
  !$omp target update to(present: a)
  !$omp target map(present, alloc: a) map(from: s)
    s = sum(a)
  !$omp end target
  if (s /= 58) error stop
  !$omp target exit data map(delete: a)
  print '(a)', "passed"
end program
