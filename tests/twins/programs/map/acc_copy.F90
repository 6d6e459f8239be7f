! The result comes back, or the data was only copied in.
! with: gcc-openacc
program main
  implicit none
  integer, parameter :: n = 16384
  real, allocatable :: a(:)
  real :: total
  integer :: i
  allocate(a(n))
  a = 1
  total = 0
#ifdef WRONG
  !$acc parallel loop copyin(a)
#else
  !$acc parallel loop copy(a)
#endif
  do i = 1, n
    a(i) = a(i) + 1
  end do
  do i = 1, n
    total = total + a(i) ! finds: the host reads
  end do
  print *, total
end program
