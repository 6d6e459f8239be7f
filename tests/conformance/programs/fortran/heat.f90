! covers: a small application: explicit heat equation with allocatable fields, target data and a reduction
! host: equal
program heat
  implicit none
  integer, parameter :: n = 40, m = 30, steps = 60
  real(8), allocatable :: u(:, :), v(:, :)
  real(8) :: change
  integer :: i, j, step
  allocate (u(n, m), v(n, m))
  u = 0
  u(:, 1) = 100
  v = u
  !$omp target data map(tofrom: u) map(alloc: v)
  !$omp target teams distribute parallel do collapse(2)
  do j = 1, m
    do i = 1, n
      v(i, j) = u(i, j)
    end do
  end do
  !$omp end target teams distribute parallel do
  do step = 1, steps
    change = 0
    !$omp target teams distribute parallel do collapse(2) map(tofrom: change) reduction(max: change)
    do j = 2, m - 1
      do i = 2, n - 1
        v(i, j) = u(i, j) + 0.2d0 * (u(i - 1, j) + u(i + 1, j) + u(i, j - 1) + u(i, j + 1) - 4 * u(i, j))
        change = max(change, abs(v(i, j) - u(i, j)))
      end do
    end do
    !$omp end target teams distribute parallel do
    !$omp target teams distribute parallel do collapse(2)
    do j = 2, m - 1
      do i = 2, n - 1
        u(i, j) = v(i, j)
      end do
    end do
    !$omp end target teams distribute parallel do
  end do
  !$omp end target data
  print '(f14.8)', change
  print '(5f12.6)', u(20, 1:5)
end program heat
