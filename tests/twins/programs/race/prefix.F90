! A prefix sum as if its elements were independent.
! with: openmp gcc
program prefix
  implicit none
  integer :: i
  integer :: a(600), b(600)
  a = 1
  b = a
#ifdef WRONG
  !$omp target teams distribute parallel do map(tofrom: b) map(to: a)
#else
  !$omp target map(tofrom: b) map(to: a)
#endif
  do i = 2, 600
    b(i) = b(i - 1) + a(i) ! finds
  end do
#ifndef WRONG
  !$omp end target
#endif
  print *, b(5) > 0
end program
