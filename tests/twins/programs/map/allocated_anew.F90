! An allocatable array that the device has: the host fetches what it adds up, or not.
! with: openmp gcc
program main
  implicit none
  real(8), allocatable :: a(:)
  real(8) :: total
  integer :: i, round, n
  total = 0
  do round = 1, 3
    n = 4000 * round
    allocate(a(n))
    a = 1
    !$omp target enter data map(to: a)
    !$omp target teams distribute parallel do
    do i = 1, n
      a(i) = a(i) + i
    end do
#ifdef WRONG
    !$omp target exit data map(release: a)
#else
    !$omp target exit data map(from: a)
#endif
    total = total + sum(a)
    deallocate(a)
  end do
  print *, total
end program
