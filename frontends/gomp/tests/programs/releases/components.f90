! Since GCC 16: allocatable components of components.
module types
  implicit none
  type inner
    integer, allocatable :: values(:)
  end type
  type outer
    real, allocatable :: matrix(:, :)
    type(inner), allocatable :: parts(:)
    integer :: n
  end type
end module

program main
  use types
  implicit none
  type(outer) :: x
  integer :: i, s
  x%n = 3
  allocate(x%matrix(2, 3), source = 1.5)
  allocate(x%parts(3))
  do i = 1, 3
    allocate(x%parts(i)%values(i), source = i)
  end do
  s = 0
  !$omp target map(tofrom: x, s)
    x%matrix = x%matrix * 2
    do i = 1, x%n
      s = s + sum(x%parts(i)%values)
      x%parts(i)%values(1) = -i
    end do
  !$omp end target
  if (s /= 14 .or. any(x%matrix /= 3) .or. x%parts(3)%values(1) /= -3 .or. x%parts(3)%values(3) /= 3) error stop
  print '(a)', "passed"
end program
