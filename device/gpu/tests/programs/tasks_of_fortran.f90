! Tasks and their loops in code of flang's, whose functions of tasks return nothing.
program tasks_of_fortran
  use omp_lib
  implicit none
  integer, parameter :: n = 32
  integer :: i, x, y, sum, in_task, values(n), loop(n)

  x = 0; y = 0; sum = 0; in_task = -1; values = 0; loop = 0
  !$omp target map(tofrom: x, y, sum, in_task, values)
  !$omp task shared(x, in_task)
  x = 7
  in_task = merge(1, 0, omp_in_explicit_task())
  !$omp end task
  !$omp taskwait
  !$omp task shared(y) if(.false.)
  y = x + 1
  !$omp end task
  do i = 1, n
    !$omp task firstprivate(i) shared(values, sum)
    values(i) = i * i
    sum = sum + i
    !$omp end task
  end do
  !$omp taskwait
  !$omp end target
  call check('task', x == 7 .and. y == 8 .and. in_task == 1)
  call check('values', all(values == [(i * i, i = 1, n)]) .and. sum == n * (n + 1) / 2)

  !$omp target map(tofrom: loop)
  !$omp taskloop shared(loop)
  do i = 1, n
    loop(i) = loop(i) + i
  end do
  !$omp end taskloop
  !$omp end target
  call check('taskloop', all(loop == [(i, i = 1, n)]))

  sum = 0
  !$omp target parallel num_threads(4) map(tofrom: sum)
  !$omp task shared(sum)
  !$omp atomic
  sum = sum + 1
  !$omp end task
  !$omp end target parallel
  call check('threads', sum == 4)
  print '(a)', 'passed'

contains
  subroutine check(what, right)
    character(*), intent(in) :: what
    logical, intent(in) :: right
    if (.not. right) then
      print '(2a)', what, ' is wrong'
      stop 1
    end if
  end subroutine
end program
