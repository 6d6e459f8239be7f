! Derived types: members by value, allocatable members, nested types, arrays
! of types, type-bound procedures.
module shapes
  implicit none
  type :: point
    real(8) :: x, y
  end type
  type :: mesh
    integer :: n = 0
    type(point) :: centre
    real(8), allocatable :: values(:)
    integer :: tag(4)
  end type
end module
program derived_types
  use shapes
  implicit none
  type(mesh) :: m, k
  type(point) :: points(50)
  integer :: i
  m%n = 128
  m%centre = point(1.5d0, 2.5d0)
  m%tag = [1, 2, 3, 4]
  allocate(m%values(m%n))
  m%values = 1
  !$omp target teams distribute parallel do map(tofrom: m)
  do i = 1, 128
    m%values(i) = m%values(i) + i * m%centre%x
  end do
  print *, sum(m%values), m%values(1), m%values(128)
  k%tag = [1, 2, 3, 4]
  k%centre = m%centre
  allocate(k%values(128))
  k%values = m%values
  !$omp target map(tofrom: k%tag, k%centre)
  k%tag(2) = 20
  k%centre%y = 7
  !$omp end target
  print *, k%tag, k%centre%x, k%centre%y
  !$omp target data map(tofrom: k)
  !$omp target teams distribute parallel do
  do i = 1, 128
    k%values(i) = 2 * k%values(i)
  end do
  !$omp end target data
  print *, sum(k%values)
  !$omp target teams distribute parallel do map(from: points)
  do i = 1, 50
    points(i)%x = i
    points(i)%y = -i
  end do
  print *, sum(points%x), sum(points%y)
end program
