! covers: atomic updates and critical sections in parallel loops of a region
! host: equal
program atomics_critical
  implicit none
  integer, parameter :: n = 200
  integer :: i, hist(5), total
  hist = 0
  total = 0
  !$omp target teams distribute parallel do map(tofrom: hist, total)
  do i = 1, n
    !$omp atomic
    hist(mod(i, 5) + 1) = hist(mod(i, 5) + 1) + 1
    !$omp atomic
    total = total + i
  end do
  !$omp end target teams distribute parallel do
  print '(6i7)', hist, total
end program atomics_critical
