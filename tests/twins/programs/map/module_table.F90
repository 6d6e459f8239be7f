! A table of a module that the device has. Wrong: it is filled and not sent.
! with: openmp gcc
module tables
  implicit none
  real :: table(100)
  !$omp declare target(table)
end module
program main
  use tables
  implicit none
  integer :: i
  real :: s
  do i = 1, 100
    table(i) = i
  end do
#ifndef WRONG
  !$omp target update to(table)
#endif
  s = 0
  !$omp target teams distribute parallel do reduction(+: s) map(tofrom: s)
  do i = 1, 100
    s = s + table(i) ! finds
  end do
  print *, s > 1
end program
