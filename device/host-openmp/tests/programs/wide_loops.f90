! Loop variables of eight, two and one bytes; bounds beyond 32 bits.
program wide_loops
  implicit none
  integer(8) :: i, first, last, total
  integer(2) :: s
  integer(1) :: b
  integer :: small
  first = 5000000000_8
  last = first + 4096
  total = 0
  !$omp target teams distribute parallel do map(tofrom: total) reduction(+: total)
  do i = first, last
    total = total + i
  end do
  print *, total
  total = 0
  !$omp target parallel do map(tofrom: total) reduction(+: total) schedule(static, 11)
  do i = -last, -first, 3
    total = total + i
  end do
  print *, total
  total = 0
  !$omp target teams distribute map(tofrom: total) reduction(+: total)
  do i = first, last
    total = total + 1
  end do
  print *, total
  small = 0
  !$omp target teams distribute parallel do map(tofrom: small) reduction(+: small)
  do s = -100_2, 100_2
    small = small + s * s
  end do
  print *, small
  small = 0
  !$omp target parallel do map(tofrom: small) reduction(+: small)
  do b = 1_1, 100_1
    small = small + b
  end do
  print *, small
end program
