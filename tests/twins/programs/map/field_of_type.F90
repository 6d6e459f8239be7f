! A type with an allocatable component that stays on the device. Wrong: it is read without `update`.
! with: openmp gcc
module fields
  implicit none
  type field
    integer :: n
    real, allocatable :: v(:)
  end type
end module
program main
  use fields
  implicit none
  type(field) :: f
  real, allocatable :: v(:)
  integer :: i
  f%n = 8000
  allocate(f%v(f%n), v(f%n))
  f%v = 1
  v = f%v
  !$omp target enter data map(to: v)
  !$omp target teams distribute parallel do
  do i = 1, 8000
    v(i) = v(i) * i
  end do
#ifndef WRONG
  !$omp target update from(v)
#endif
  print *, sum(v(2000:6000)) > 5 ! finds
  !$omp target exit data map(delete: v)
end program
