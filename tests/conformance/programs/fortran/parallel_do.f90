! covers: target teams distribute parallel do, target parallel do, loops with strides and lower bounds
! host: equal
program parallel_do
  implicit none
  integer, parameter :: n = 1000
  integer :: i
  real(8) :: x(n), y(n), z(-5:5)
  do i = 1, n
    x(i) = i
    y(i) = 1
  end do
  !$omp target teams distribute parallel do map(to: x) map(tofrom: y)
  do i = 1, n
    y(i) = y(i) + 2.0d0 * x(i)
  end do
  !$omp end target teams distribute parallel do
  print '(f12.1)', sum(y)
  !$omp target parallel do map(tofrom: y)
  do i = 1, n, 3
    y(i) = 0
  end do
  !$omp end target parallel do
  print '(f12.1)', sum(y)
  !$omp target teams distribute parallel do map(from: z)
  do i = -5, 5
    z(i) = i * i
  end do
  !$omp end target teams distribute parallel do
  print '(11f5.0)', z
end program parallel_do
