! covers: collapse of nested do loops over multi-dimensional arrays, schedules
! host: equal
program collapse_loops
  implicit none
  integer :: i, j, k
  integer :: a(6, 7), c(3, 4, 5)
  a = 0
  c = 0
  !$omp target teams distribute parallel do collapse(2) map(tofrom: a)
  do j = 1, 7
    do i = 1, 6
      a(i, j) = 10 * i + j
    end do
  end do
  !$omp end target teams distribute parallel do
  !$omp target teams distribute parallel do collapse(3) map(tofrom: c)
  do k = 1, 5
    do j = 1, 4
      do i = 1, 3
        c(i, j, k) = i + 10 * j + 100 * k
      end do
    end do
  end do
  !$omp end target teams distribute parallel do
  print '(i8, i8)', sum(a), sum(c)
  print '(6i4)', a(:, 1:2)
end program collapse_loops
