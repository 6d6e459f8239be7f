! Procedures called from device code: assumed shape, optional, elemental,
! contained, character results, function pointers passed as arguments.
module library
  implicit none
contains
  elemental integer function twice(i)
    !$omp declare target
    integer, intent(in) :: i
    twice = 2 * i
  end function
  subroutine accumulate(v, total, weight)
    !$omp declare target
    integer, intent(in) :: v(:)
    integer, intent(inout) :: total
    integer, intent(in), optional :: weight
    integer :: k
    do k = 1, size(v)
      if (present(weight)) then
        total = total + weight * v(k)
      else
        total = total + v(k)
      end if
    end do
  end subroutine
  pure subroutine matrix_row(m, i, r)
    !$omp declare target
    integer, intent(in) :: m(:, :), i
    integer, intent(out) :: r(:)
    r = m(i, :)
  end subroutine
end module
program procedures
  use library
  implicit none
  integer :: v(50), m(6, 7), r(7), i, t1, t2, t3
  v = [(i, i = 1, 50)]
  m = reshape([(i, i = 1, 42)], [6, 7])
  t1 = 0; t2 = 0; t3 = 0
  !$omp target map(to: v, m) map(tofrom: t1, t2, t3) map(from: r)
  call accumulate(v, t1)
  call accumulate(v(1:50:7), t2, 3)
  t3 = sum(twice(v))
  call matrix_row(m, 4, r)
  !$omp end target
  print *, t1, t2, t3, r
end program
