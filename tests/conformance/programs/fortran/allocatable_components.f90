! covers: derived types with allocatable components, mapped whole and by component
! host: equal
program allocatable_components
  implicit none
  type field
    integer :: n
    real(8), allocatable :: v(:)
  end type field
  type(field) :: f
  integer :: i
  f%n = 12
  allocate (f%v(f%n))
  do i = 1, f%n
    f%v(i) = i
  end do
  !$omp target map(tofrom: f)
  do i = 1, f%n
    f%v(i) = f%v(i) * 3
  end do
  !$omp end target
  print '(12f6.1)', f%v
  !$omp target enter data map(to: f%v)
  !$omp target map(tofrom: f%v)
  f%v(2) = -1
  !$omp end target
  !$omp target exit data map(from: f%v)
  print '(12f6.1)', f%v
end program allocatable_components
