! A barrier in a critical region.
! with: openmp gcc
subroutine add(a)
  !$omp declare target
  integer :: a(4)
  a(1) = a(1) + 1
#ifdef WRONG
  !$omp barrier ! finds
#endif
end subroutine

program main
  implicit none
  integer :: a(4)
  a = 0
  !$omp target map(tofrom: a)
  !$omp parallel num_threads(32)
  !$omp critical
  call add(a)
  !$omp end critical
  !$omp barrier
  if (a(1) /= 32) a(2) = 1
  !$omp end parallel
  !$omp end target
  print *, a(2)
end program
