! Ordered parts of loops: in iteration order, also where iterations skip them,
! in several loops of one region, and with more threads than processors.
program ordered_program
  implicit none
  integer, parameter :: n = 211
  integer :: i, position, wrong, a(n), round, steps(3)
  a = 0; position = 0
  !$omp target map(tofrom: a, position)
  !$omp parallel do ordered
  do i = 1, n
    !$omp ordered
    position = position + 1
    a(position) = i
    !$omp end ordered
  end do
  !$omp end target
  print *, position, all(a == [(i, i = 1, n)])

  wrong = 0; steps = 0
  !$omp target map(tofrom: wrong, steps)
  !$omp parallel private(round) num_threads(6)
  do round = 1, 3
    !$omp do ordered
    do i = 1, n
      if (mod(i, 3) /= round - 1) then
        !$omp ordered
        if (steps(round) >= i) wrong = wrong + 1
        steps(round) = i
        !$omp end ordered
      end if
    end do
  end do
  !$omp end parallel
  !$omp end target
  print *, wrong, steps
end program
