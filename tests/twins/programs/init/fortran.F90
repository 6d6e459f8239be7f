! An array that is there, and empty.
! with: openmp gcc
program fortran
  implicit none
  real :: a(200)
  integer :: i, many
  a = 3.0
  many = 0
#ifdef WRONG
  !$omp target map(alloc: a) map(tofrom: many)
#else
  !$omp target map(to: a) map(tofrom: many)
#endif
  do i = 1, 200
    if (a(i) > 2.0) then ! finds
      many = many + 1
    end if
  end do
  !$omp end target
  print *, many
end program
