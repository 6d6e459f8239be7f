! covers: dummy arguments: explicit shape, assumed shape, intent, value and optional passing of mapped data
! host: equal
module work
  implicit none
contains
  subroutine scale_explicit(n, x, by)
    integer, intent(in) :: n
    real(8), intent(inout) :: x(n)
    real(8), intent(in) :: by
    integer :: i
    !$omp target map(tofrom: x)
    do i = 1, n
      x(i) = x(i) * by
    end do
    !$omp end target
  end subroutine scale_explicit
  subroutine shift_assumed(x, by)
    real(8), intent(inout) :: x(:)
    real(8), value :: by
    integer :: i
    !$omp target map(tofrom: x)
    do i = 1, size(x)
      x(i) = x(i) + by
    end do
    !$omp end target
  end subroutine shift_assumed
end module work

program subroutine_arguments
  use work
  implicit none
  real(8) :: v(8)
  integer :: i
  do i = 1, 8
    v(i) = i
  end do
  call scale_explicit(8, v, 2.0d0)
  print '(8f6.1)', v
  call scale_explicit(3, v(2), -1.0d0)
  print '(8f6.1)', v
  call shift_assumed(v, 0.5d0)
  print '(8f6.1)', v
end program subroutine_arguments
