! nint, of which flang makes intrinsics of LLVM's that have no code on a GPU.
program rounding
  implicit none
  integer, parameter :: n = 20
  integer :: i, expected(n), both(n)
  integer(8) :: long(n)
  integer(2) :: short(n)
  real(8) :: x
  do i = 1, n
    x = (i - 10) * 0.5d0
    expected(i) = int(x + sign(0.5d0, x))
  end do
  !$omp target teams distribute parallel do private(x) map(from: both, long, short)
  do i = 1, n
    x = (i - 10) * 0.5d0
    both(i) = nint(x) + nint(real(x, 4))
    long(i) = nint(x, 8) + 1000 * nint(real(x, 4), 8)
    short(i) = nint(x, 2)
  end do
  if (all(both == 2 * expected) .and. all(long == 1001 * expected) .and. all(short == expected)) then
    print '(a)', 'passed'
  else
    print *, both, long, short
  end if
end program rounding
