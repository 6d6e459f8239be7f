! Jacobi's iteration with the greatest change, in an array of its own. Wrong: in place.
! with: gcc-openacc
program jacobi
  implicit none
  integer, parameter :: n = 24
  real :: a(n, n), new(n, n), change
  integer :: i, j, step
  a = 0
  a(1, :) = 1
  new = a
  !$acc data copy(a, new)
  do step = 1, 3
    change = 0
    !$acc parallel loop collapse(2) reduction(max:change)
    do j = 2, n - 1
      do i = 2, n - 1
#ifdef WRONG
        new(i, j) = 0.25 * (new(i - 1, j) + new(i + 1, j) + new(i, j - 1) + new(i, j + 1)) ! finds
#else
        new(i, j) = 0.25 * (a(i - 1, j) + a(i + 1, j) + a(i, j - 1) + a(i, j + 1))
#endif
        change = max(change, abs(new(i, j) - a(i, j)))
      end do
    end do
    !$acc parallel loop collapse(2)
    do j = 2, n - 1
      do i = 2, n - 1
        a(i, j) = new(i, j)
      end do
    end do
  end do
  !$acc end data
  print *, change < 1
end program
