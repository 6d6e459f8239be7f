! A barrier in a loop that the threads of a team share.
! with: openmp gcc
subroutine step(a, i)
  !$omp declare target
  integer :: a(100), i
#ifdef WRONG
  !$omp barrier
#endif
  a(i) = i
end subroutine

program main
  implicit none
  integer :: a(100), i
  a = 0
  !$omp target map(tofrom: a)
  !$omp parallel num_threads(64)
  !$omp do
  do i = 1, 100
    call step(a, i)
  end do
  !$omp end do
  !$omp end parallel
  !$omp end target
  print *, a(5)
end program
