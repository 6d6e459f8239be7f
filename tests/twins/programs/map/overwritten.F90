! The host writes before the copy back, or behind it.
! with: openmp gcc
program main
  implicit none
  integer :: a(1000), i
  a = 0
  !$omp target enter data map(to: a)
  !$omp target teams distribute parallel do
  do i = 1, 1000
    a(i) = i
  end do
#ifdef WRONG
  a(3) = -1
#endif
  !$omp target exit data map(from: a) ! finds: overwrites
  a(3) = -1
  print *, a(3)
end program
