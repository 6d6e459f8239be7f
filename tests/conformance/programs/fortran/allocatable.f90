! covers: allocatable arrays of one and two dimensions with their descriptors, in enter/exit data and regions
! host: equal
program allocatable_arrays
  implicit none
  real, allocatable :: a(:), m(:, :)
  integer :: i, j
  allocate (a(20), m(4, 5))
  do i = 1, 20
    a(i) = i
  end do
  m = 1
  !$omp target enter data map(to: a, m)
  !$omp target
  do i = 1, 20
    a(i) = a(i) * 2
  end do
  do j = 1, 5
    do i = 1, 4
      m(i, j) = m(i, j) + 10 * i + j
    end do
  end do
  !$omp end target
  !$omp target update from(a)
  print '(3f8.1)', a(1), a(20), sum(a)
  !$omp target exit data map(from: m) map(delete: a)
  print '(4f8.1)', m
  deallocate (a, m)
  allocate (a(-1:3))
  a = 7
  !$omp target map(tofrom: a)
  a(-1) = 1
  a(3) = 3
  !$omp end target
  print '(5f5.1)', a
end program allocatable_arrays
