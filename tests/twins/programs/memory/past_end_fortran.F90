! A loop that goes one element too far.
! with: openmp gcc gcc-openacc
program past_end
  implicit none
  integer, allocatable :: a(:)
  integer :: i, last
  allocate (a(1000))
  last = 1000
#ifdef WRONG
  last = 1001
#endif
#ifdef _OPENACC
  !$acc parallel loop copyout(a)
#else
  !$omp target teams distribute parallel do map(from: a)
#endif
  do i = 1, last
    a(i) = i ! finds
  end do
  print *, a(7)
end program
