! The loop construct at every binding.
program loop_construct
  implicit none
  integer, parameter :: n = 900
  integer :: i, j, a(n), total, m(30, 30)
  !$omp target teams loop map(from: a)
  do i = 1, n
    a(i) = i
  end do
  print *, sum(a)
  total = 0
  !$omp target parallel loop map(to: a) map(tofrom: total) reduction(+: total)
  do i = 1, n
    total = total + a(i)
  end do
  print *, total
  total = 0
  !$omp target teams loop collapse(2) map(from: m)
  do j = 1, 30
    do i = 1, 30
      m(i, j) = i * j
    end do
  end do
  print *, sum(m)
end program
