! What a loop reads on the device is updated, or was changed on the host alone.
! with: gcc-openacc
program main
  implicit none
  integer :: c(100), out(100), i
  c = 1
  !$acc data copyin(c) copyout(out)
  c(7) = 5
#ifndef WRONG
  !$acc update device(c)
#endif
  !$acc parallel loop
  do i = 1, 100
    out(i) = c(i) ! finds: a kernel reads
  end do
  !$acc end data
  print *, out(7)
end program
