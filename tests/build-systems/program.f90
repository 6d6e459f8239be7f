program program
  implicit none
  integer :: value
  value = 41
  !$omp target map(tofrom: value)
  value = value + 1
  !$omp end target
  print '(i0)', value
  if (value /= 42) error stop
end program program
