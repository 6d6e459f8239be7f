! Each iteration reads what the next one writes.
! with: openmp gcc gcc-openacc
program neighbour
  implicit none
  integer :: a(1001), b(1001), i
  do i = 1, 1001
    a(i) = i
    b(i) = i
  end do
#ifdef _OPENACC
  !$acc parallel loop copy(a, b)
#else
  !$omp target teams distribute parallel do map(tofrom: a, b)
#endif
  do i = 1, 1000
#ifdef WRONG
    a(i) = a(i + 1) + 1 ! finds
#else
    a(i) = b(i + 1) + 1
#endif
  end do
  print *, a(500)
end program
