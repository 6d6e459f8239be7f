! A sum that all iterations add to.
! with: openmp gcc gcc-openacc
program total
  implicit none
  integer :: i, s
  s = 0
#ifdef _OPENACC
#ifdef WRONG
  !$acc parallel loop copy(s)
#else
  !$acc parallel loop reduction(+: s)
#endif
#else
#ifdef WRONG
  !$omp target teams distribute parallel do map(tofrom: s)
#else
  !$omp target teams distribute parallel do map(tofrom: s) reduction(+: s)
#endif
#endif
  do i = 1, 1000
    s = s + i ! finds
  end do
  print *, s
end program
