! covers: target nowait with depend and taskwait
! host: equal
program nowait_depend
  implicit none
  integer :: x(8), y(8), i
  x = 0
  y = 0
  !$omp target nowait depend(out: x) map(tofrom: x)
  do i = 1, 8
    x(i) = i
  end do
  !$omp end target
  !$omp target nowait depend(in: x) depend(out: y) map(to: x) map(tofrom: y)
  do i = 1, 8
    y(i) = x(i) * x(i)
  end do
  !$omp end target
  !$omp taskwait
  print '(8i4)', x
  print '(8i4)', y
end program nowait_depend
