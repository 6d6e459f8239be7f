! The last column is not written.
! with: gcc-openacc
program columns
  implicit none
  integer :: a(16, 32), i, j
  a = 1
#ifdef WRONG
  !$acc parallel loop collapse(2) copyout(a)
#else
  !$acc parallel loop collapse(2) copy(a)
#endif
  do j = 1, 31
    do i = 1, 16
      a(i, j) = i + j
    end do
  end do
  print *, a(2, 3)
end program
