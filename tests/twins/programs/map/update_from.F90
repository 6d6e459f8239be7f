! The host sums what is on the device: with an update before, or without.
! with: openmp gcc
program main
  implicit none
  integer, parameter :: n = 8192
  real(8), allocatable :: a(:)
  real(8) :: total
  integer :: i
  allocate(a(n))
  a = 1
  total = 0
  !$omp target enter data map(to: a)
  !$omp target teams distribute parallel do
  do i = 1, n
    a(i) = a(i) + i
  end do
#ifndef WRONG
  !$omp target update from(a)
#endif
  do i = 1, n
    total = total + a(i) ! finds: the host reads
  end do
  !$omp target exit data map(delete: a)
  print *, total
  deallocate(a)
end program
