! covers: functions and subroutines called in regions: recursive, pure, with array arguments, internal
! host: equal
module tools
  implicit none
contains
  recursive integer function fibonacci(n) result(value)
    !$omp declare target
    integer, intent(in) :: n
    if (n < 2) then
      value = n
    else
      value = fibonacci(n - 1) + fibonacci(n - 2)
    end if
  end function fibonacci
  pure real(8) function norm2_of(n, x)
    !$omp declare target
    integer, intent(in) :: n
    real(8), intent(in) :: x(n)
    integer :: i
    norm2_of = 0
    do i = 1, n
      norm2_of = norm2_of + x(i) * x(i)
    end do
  end function norm2_of
  subroutine swap(a, b)
    !$omp declare target
    integer, intent(inout) :: a, b
    integer :: t
    t = a
    a = b
    b = t
  end subroutine swap
end module tools

program procedures
  use tools
  implicit none
  integer :: f, a, b, i
  real(8) :: x(10), r
  do i = 1, 10
    x(i) = i
  end do
  a = 1
  b = 2
  !$omp target map(from: f, r) map(to: x) map(tofrom: a, b)
  f = fibonacci(15)
  r = norm2_of(10, x)
  call swap(a, b)
  !$omp end target
  print '(i6, f8.1, 2i3)', f, r, a, b
end program procedures
