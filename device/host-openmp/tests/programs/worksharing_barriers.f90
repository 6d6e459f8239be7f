! Loops of one parallel region that read what other threads wrote in the loop
! before: each needs the barrier at the end of the construct.
program worksharing_barriers
  implicit none
  integer, parameter :: n = 997
  integer :: a(n), b(n), i, step, wrong
  wrong = 0
  a = 0; b = 0
  !$omp target map(tofrom: a, b, wrong)
  !$omp parallel num_threads(4) private(step)
  do step = 1, 60
    !$omp do
    do i = 1, n
      a(i) = step * i
    end do
    !$omp do
    do i = 1, n
      b(i) = a(n + 1 - i)
    end do
    !$omp do reduction(+: wrong)
    do i = 1, n
      if (b(n + 1 - i) /= step * i) wrong = wrong + 1
    end do
  end do
  !$omp end parallel
  !$omp end target
  print *, wrong, sum(a), sum(b)
end program
