! covers: teams and distribute apart, inner parallel loops per team, private scalars of each level
! host: equal
program nested_regions
  implicit none
  integer, parameter :: n = 16, m = 24
  integer :: i, j
  real(8) :: a(m, n), row(n)
  row = 0
  !$omp target teams distribute map(from: a)
  do i = 1, n
    !$omp parallel do
    do j = 1, m
      a(j, i) = i * 1000 + j
    end do
    !$omp end parallel do
  end do
  !$omp end target teams distribute
  !$omp target teams distribute parallel do map(to: a) map(tofrom: row)
  do i = 1, n
    do j = 1, m
      row(i) = row(i) + a(j, i)
    end do
  end do
  !$omp end target teams distribute parallel do
  print '(4f12.1)', row
end program nested_regions
