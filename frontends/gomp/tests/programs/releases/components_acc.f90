! Since GCC 13: allocatable components, attached.
program main
  implicit none
  type table
    integer, allocatable :: values(:)
  end type
  type(table) :: x
  integer :: i
  allocate(x%values(20), source = 1)
  !$acc enter data copyin(x)
  !$acc enter data copyin(x%values)
  !$acc parallel loop present(x)
  do i = 1, 20
    x%values(i) = x%values(i) + i
  end do
  !$acc exit data copyout(x%values)
  !$acc exit data delete(x)
  if (sum(x%values) /= 230) error stop
  print '(a)', "passed"
end program
