! covers: map(to), map(from), map(tofrom) of scalars and arrays, array sections
! host: equal
program map_arrays
  implicit none
  integer :: i, n
  integer :: a(10), b(10), c(10)
  real(8) :: s
  n = 10
  s = 0
  do i = 1, n
    a(i) = i
    b(i) = 100
    c(i) = -1
  end do
  !$omp target map(to: a) map(tofrom: b, s) map(from: c)
  do i = 1, n
    b(i) = b(i) + a(i)
    c(i) = b(i) * 2
    s = s + 0.5d0 * c(i)
  end do
  !$omp end target
  print '(10i5)', b
  print '(10i5)', c
  print '(f8.2)', s
  !$omp target map(tofrom: b(3:5))
  b(3:5) = -b(3:5)
  !$omp end target
  print '(10i5)', b
end program map_arrays
