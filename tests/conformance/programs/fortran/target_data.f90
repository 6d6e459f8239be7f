! covers: target data around several regions, update to and from, if clauses
! host: equal
program target_data
  implicit none
  integer, parameter :: n = 64
  integer :: i, step
  real(8) :: u(n), f(n)
  u = 0
  f = 1
  !$omp target data map(tofrom: u) map(to: f)
  do step = 1, 5
    !$omp target teams distribute parallel do
    do i = 2, n - 1
      u(i) = u(i) + f(i) * step
    end do
    !$omp end target teams distribute parallel do
    if (step == 3) then
      f(10) = 100
      !$omp target update to(f)
    end if
  end do
  !$omp target update from(u)
  print '(3f8.1)', u(1), u(2), u(10)
  !$omp end target data
  print '(f10.1)', sum(u)
  !$omp target if (n > 1000) map(tofrom: u)
  u(1) = -1
  !$omp end target
  print '(f8.1)', u(1)
end program target_data
