! A scratch array that all gangs share.
! with: gcc-openacc
program gang_scratch
  implicit none
  integer :: i, j
  integer :: scratch(8), out(200)
  scratch = 0
#ifdef WRONG
  !$acc parallel loop gang copyout(out) copy(scratch)
#else
  !$acc parallel loop gang copyout(out) private(scratch)
#endif
  do i = 1, 200
    !$acc loop seq
    do j = 1, 8
      scratch(j) = i * j ! finds
    end do
    out(i) = scratch(3)
  end do
  print *, out(5)
end program
