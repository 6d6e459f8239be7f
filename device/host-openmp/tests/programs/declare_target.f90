! declare target procedures and module variables: to, link, procedures that
! call one another, recursion, module arrays updated both ways.
module physics
  implicit none
  integer, parameter :: cells = 300
  integer :: scale = 3
  real(8) :: field(cells)
  integer :: big(cells)
  !$omp declare target to(scale, field)
  !$omp declare target link(big)
contains
  integer function scaled(i)
    !$omp declare target
    integer, intent(in) :: i
    scaled = scale * square(i)
  end function
  integer function square(i)
    !$omp declare target
    integer, intent(in) :: i
    square = i * i
  end function
  recursive integer function fib(n) result(r)
    !$omp declare target
    integer, intent(in) :: n
    if (n < 2) then
      r = n
    else
      r = fib(n - 1) + fib(n - 2)
    end if
  end function
  subroutine smooth(v)
    !$omp declare target
    real(8), intent(inout) :: v(:)
    integer :: k
    do k = 2, size(v) - 1
      v(k) = v(k) + 1
    end do
  end subroutine
end module
program declare_target_program
  use physics
  implicit none
  integer :: i, out(cells)
  !$omp target teams distribute parallel do map(from: out)
  do i = 1, cells
    out(i) = scaled(i)
  end do
  print *, sum(out)
  scale = 5
  !$omp target update to(scale)
  !$omp target map(from: out)
  out(1) = scaled(4)
  out(2) = fib(15)
  !$omp end target
  print *, out(1), out(2)
  field = [(dble(i), i = 1, cells)]
  !$omp target update to(field)
  !$omp target teams distribute parallel do
  do i = 1, cells
    field(i) = field(i) * 2
  end do
  !$omp target
  call smooth(field)
  !$omp end target
  !$omp target update from(field)
  print *, sum(field), field(1), field(2), field(cells)
  big = 4
  !$omp target teams distribute parallel do map(tofrom: big)
  do i = 1, cells
    big(i) = big(i) + i
  end do
  print *, sum(big)
end program
