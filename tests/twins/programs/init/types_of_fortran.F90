! with: openmp
! A derived type with allocatable components: the arrays are mapped, the part that is not set is not used.
program types_of_fortran
  implicit none
  type grid
     integer :: n
     real(8), allocatable :: v(:)
     logical :: ready
  end type grid
  type(grid) :: g
  integer :: i, count
  g%n = 500
  g%ready = .true.
  allocate(g%v(g%n))
  count = 0
  !$omp target data map(to: g) map(alloc: g%v)
#ifdef WRONG
  !$omp target teams distribute parallel do map(to: g)
  do i = 2, 500
     g%v(i) = i
  end do
#else
  !$omp target teams distribute parallel do map(to: g)
  do i = 1, 500
     g%v(i) = i
  end do
#endif
  !$omp target teams distribute parallel do reduction(+: count) map(tofrom: count) map(to: g)
  do i = 1, 500
     if (g%v(i) > 3) count = count + 1
  end do
  !$omp end target data
  print *, count
end program types_of_fortran
