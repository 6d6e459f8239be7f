! simd in all its combinations.
program simd_program
  implicit none
  integer, parameter :: n = 777
  integer :: i, total
  real(8) :: a(n), b(n)
  a = [(dble(i), i = 1, n)]
  b = 0
  !$omp target map(to: a) map(tofrom: b)
  !$omp simd
  do i = 1, n
    b(i) = b(i) + a(i)
  end do
  !$omp end target
  print *, sum(b)
  !$omp target teams distribute parallel do simd map(to: a) map(tofrom: b)
  do i = 1, n
    b(i) = b(i) + 2 * a(i)
  end do
  print *, sum(b)
  !$omp target parallel do simd map(to: a) map(tofrom: b) simdlen(4)
  do i = 1, n
    b(i) = b(i) + 3 * a(i)
  end do
  print *, sum(b)
  !$omp target teams distribute simd map(to: a) map(tofrom: b)
  do i = 1, n
    b(i) = b(i) + 4 * a(i)
  end do
  print *, sum(b)
  total = 0
  !$omp target simd map(tofrom: total) reduction(+: total)
  do i = 1, n
    total = total + i
  end do
  print *, total
end program
