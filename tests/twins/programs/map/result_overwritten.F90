! The host sets the boundary while the data is on the device, and the copy back overwrites that.
! with: openmp gcc gcc-openacc
program result_overwritten
  implicit none
  integer :: i
  real(8) :: a(4096)
  a = 1
#ifdef _OPENACC
  !$acc enter data copyin(a)
  !$acc parallel loop present(a)
#else
  !$omp target enter data map(to: a)
  !$omp target teams distribute parallel do
#endif
  do i = 2, 4095
    a(i) = a(i) + i
  end do
#ifdef WRONG
  a(1) = 5
  a(4096) = 5
#endif
#ifdef _OPENACC
  !$acc exit data copyout(a)
#else
  !$omp target exit data map(from: a)
#endif
#ifndef WRONG
  a(1) = 5
  a(4096) = 5
#endif
  print *, a(1), a(7)
end program
