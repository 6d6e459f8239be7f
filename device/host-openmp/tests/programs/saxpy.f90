! target teams distribute parallel do with scalars captured by value and
! assumed-shape arrays passed to a subroutine.
program saxpy_program
  implicit none
  integer, parameter :: n = 100003
  real(8), allocatable :: x(:), y(:)
  integer :: i
  allocate(x(n), y(n))
  do i = 1, n
    x(i) = i
    y(i) = -i
  end do
  call saxpy(3.0d0, x, y)
  print *, y(1), y(n), sum(y)
contains
  subroutine saxpy(a, u, v)
    real(8), intent(in) :: a, u(:)
    real(8), intent(inout) :: v(:)
    integer :: k
    !$omp target teams distribute parallel do map(to: u) map(tofrom: v)
    do k = 1, size(v)
      v(k) = a * u(k) + v(k)
    end do
  end subroutine
end program
