! covers: reductions of integers and reals: sum, product, min, max, logical, bitwise
! host: equal
program reductions
  implicit none
  integer, parameter :: n = 500
  integer :: i, isum, imin, imax
  real(8) :: dsum, dmax
  logical :: all_positive, any_large
  integer :: v(n)
  do i = 1, n
    v(i) = mod(i * 7919, 1009) + 1
  end do
  isum = 0
  dsum = 0
  !$omp target teams distribute parallel do map(to: v) map(tofrom: isum, dsum) reduction(+: isum, dsum)
  do i = 1, n
    isum = isum + v(i)
    dsum = dsum + 0.25d0 * v(i)
  end do
  !$omp end target teams distribute parallel do
  print '(i10, f12.2)', isum, dsum
  imin = huge(imin)
  imax = -huge(imax)
  dmax = 0
  !$omp target parallel do map(to: v) map(tofrom: imin, imax, dmax) reduction(min: imin) reduction(max: imax, dmax)
  do i = 1, n
    imin = min(imin, v(i))
    imax = max(imax, v(i))
    dmax = max(dmax, v(i) / 2.0d0)
  end do
  !$omp end target parallel do
  print '(2i6, f8.1)', imin, imax, dmax
  all_positive = .true.
  any_large = .false.
  !$omp target parallel do map(to: v) map(tofrom: all_positive, any_large) &
  !$omp& reduction(.and.: all_positive) reduction(.or.: any_large)
  do i = 1, n
    all_positive = all_positive .and. v(i) > 0
    any_large = any_large .or. v(i) > 100000
  end do
  !$omp end target parallel do
  print *, all_positive, any_large
end program reductions
