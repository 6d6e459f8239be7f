! Since GCC 16: allocatable components in unstructured data.
module types
  implicit none
  type table
    integer, allocatable :: keys(:)
    real(8), allocatable :: values(:)
  end type
end module

program main
  use types
  implicit none
  type(table), allocatable :: x
  integer :: i
  allocate(x)
  allocate(x%keys(100), x%values(100))
  x%keys = [(i, i = 1, 100)]
  x%values = 0
  !$omp target enter data map(to: x)
  !$omp target teams distribute parallel do
  do i = 1, 100
    x%values(i) = x%keys(i) * 0.5d0
  end do
  !$omp target exit data map(from: x)
  if (abs(sum(x%values) - 2525) > 1d-9) error stop
  print '(a)', "passed"
end program
