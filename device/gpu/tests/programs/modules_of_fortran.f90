! Arrays in modules, whose sizes leave those behind them at odd places.
module variables
  implicit none
  integer, parameter :: dp = kind(1d0)
  real(dp) :: a(3), b(8), c(5), d(8)
  real :: e(7), f(16)
  integer(1) :: g(17), h(32)
  !$omp declare target(a, b, c, d, e, f, g, h)
end module

program main
  use variables
  implicit none
  integer :: i, wrong
  wrong = 0
  a = 1; b = 2; c = 3; d = 4; e = 5; f = 6; g = 7; h = 8
  !$omp target update to(a, b, c, d, e, f, g, h)
  !$omp target
  do i = 1, 3; a(i) = a(i) * i; end do
  do i = 1, 8; b(i) = b(i) * i; end do
  do i = 1, 5; c(i) = c(i) * i; end do
  do i = 1, 8; d(i) = d(i) * i; end do
  do i = 1, 7; e(i) = e(i) * i; end do
  do i = 1, 16; f(i) = f(i) * i; end do
  do i = 1, 17; g(i) = g(i) + 1_1; end do
  do i = 1, 32; h(i) = h(i) + 1_1; end do
  !$omp end target
  !$omp target update from(a, b, c, d, e, f, g, h)
  call check('a', sum(a), 6d0)
  call check('b', sum(b), 72d0)
  call check('c', sum(c), 45d0)
  call check('d', sum(d), 144d0)
  call check('e', sum(real(e, dp)), 140d0)
  call check('f', sum(real(f, dp)), 816d0)
  call check('g', sum(real(g, dp)), 136d0)
  call check('h', sum(real(h, dp)), 288d0)
  if (wrong == 0) then
    print '(a)', 'passed'
  else
    print '(a)', 'failed'
    error stop 1
  end if
contains
  subroutine check(name, got, expected)
    character(*), intent(in) :: name
    real(dp), intent(in) :: got, expected
    if (got /= expected) then
      print *, name, ' is ', got, ', not ', expected
      wrong = wrong + 1
    end if
  end subroutine
end program
