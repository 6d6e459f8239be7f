! covers: loops with no, one and odd numbers of iterations, downward, long integers, in distributed loops
! host: equal
program loop_bounds
  implicit none
  integer :: i, n, count
  integer(8) :: k, big
  integer :: counts(5)
  counts = 0
  do n = 0, 3
    count = 0
    !$omp target teams distribute parallel do map(tofrom: count) reduction(+: count)
    do i = 1, n
      count = count + i
    end do
    !$omp end target teams distribute parallel do
    counts(n + 1) = count
  end do
  print '(4i4)', counts(1:4)
  count = 0
  !$omp target teams distribute parallel do map(tofrom: count) reduction(+: count)
  do i = 17, -17, -5
    count = count + 100 + i
  end do
  !$omp end target teams distribute parallel do
  print '(i6)', count
  big = 0
  !$omp target teams distribute parallel do map(tofrom: big) reduction(+: big)
  do k = 3000000000_8, 3000000099_8
    big = big + k
  end do
  !$omp end target teams distribute parallel do
  print '(i16)', big
  count = 0
  !$omp target parallel do map(tofrom: count) reduction(+: count)
  do i = 1, 1237
    count = count + mod(i, 3)
  end do
  !$omp end target parallel do
  print '(i6)', count
end program loop_bounds
