! covers: enter and exit data, updates of contiguous sections, a column of a matrix, release and delete
! host: equal
program update_sections
  implicit none
  integer :: a(10, 4), b(12), i
  a = 0
  do i = 1, 12
    b(i) = i
  end do
  !$omp target enter data map(to: a, b)
  b(5:8) = 50
  !$omp target update to(b(5:8))
  !$omp target map(tofrom: a, b)
  do i = 1, 10
    a(i, 2) = b(i)
    a(i, 3) = 2 * b(i)
  end do
  !$omp end target
  !$omp target update from(a(:, 2:3))
  print '(10i4)', a(:, 2)
  print '(10i4)', a(:, 3)
  !$omp target exit data map(release: b) map(delete: a)
end program update_sections
