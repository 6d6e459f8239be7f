! The host changes what is on the device: with an update behind, or without.
! with: openmp gcc
program main
  implicit none
  integer :: c(100), out(100), i
  c = 1
  !$omp target data map(to: c) map(from: out)
  c(7) = 5
#ifndef WRONG
  !$omp target update to(c)
#endif
  !$omp target teams distribute parallel do
  do i = 1, 100
    out(i) = c(i) ! finds: a kernel reads
  end do
  !$omp end target data
  print *, out(7)
end program
