! A reduction over a whole array, and two reductions in one target region.
program array_reduction
  implicit none
  integer :: histogram(0:9), i, first, second
  histogram = 0
  !$omp target parallel do map(tofrom: histogram) reduction(+: histogram)
  do i = 1, 10007
    histogram(mod(i, 10)) = histogram(mod(i, 10)) + 1
  end do
  print *, histogram

  first = 0; second = 0
  !$omp target map(tofrom: first, second)
  !$omp parallel do reduction(+: first)
  do i = 1, 1000
    first = first + i
  end do
  !$omp parallel do reduction(max: second)
  do i = 1, 1000
    second = max(second, first - i)
  end do
  !$omp end target
  print *, first, second
end program
