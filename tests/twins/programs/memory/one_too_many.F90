! A section of an allocatable array that is one element too short.
! with: openmp gcc
program main
  implicit none
  integer, allocatable :: a(:)
  integer :: i
  allocate(a(300))
  a = 0
#ifdef WRONG
  !$omp target teams distribute parallel do map(tofrom: a(1:299))
#else
  !$omp target teams distribute parallel do map(tofrom: a(1:300))
#endif
  do i = 1, 300
    a(i) = i ! finds
  end do
  print *, sum(a)
end program
