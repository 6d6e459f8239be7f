! with: gcc-openacc
! Components of a derived type are attached and updated.
program acc_components
  implicit none
  type field
     real, allocatable :: v(:)
     integer :: n
  end type field
  type(field) :: f
  integer :: i
  real :: s
  f%n = 4000
  allocate(f%v(f%n))
  f%v = 1
  !$acc enter data copyin(f)
  !$acc enter data copyin(f%v)
  !$acc parallel loop present(f)
  do i = 1, 4000
     f%v(i) = f%v(i) + i
  end do
#ifndef WRONG
  !$acc update self(f%v)
#endif
  s = sum(f%v) ! finds
  !$acc exit data delete(f%v)
  !$acc exit data delete(f)
  print *, s
end program acc_components
