! Named and unnamed critical sections, barrier, single, master.
program critical_program
  use omp_lib
  implicit none
  integer, parameter :: n = 5000
  integer :: i, total, other, once, masters, late
  total = 0; other = 0
  !$omp target teams distribute parallel do map(tofrom: total, other)
  do i = 1, n
    !$omp critical
    total = total + i
    !$omp end critical
    !$omp critical (second)
    other = other + 2
    !$omp end critical (second)
  end do
  print *, total, other

  once = 0; masters = 0; late = 0; total = 0
  !$omp target map(tofrom: once, masters, late, total)
  !$omp parallel num_threads(3)
  !$omp single
  once = once + 1
  !$omp end single
  !$omp atomic
  total = total + 1
  !$omp barrier
  if (total == omp_get_num_threads()) then
    !$omp atomic
    late = late + 1
  end if
  !$omp master
  masters = masters + 1
  !$omp end master
  !$omp end parallel
  !$omp end target
  print *, once, masters, late == total, total
end program
