! covers: functions of complex numbers, and arrays that are allocated in a region
! host: equal
program complex_functions
  implicit none
  integer, parameter :: n = 6
  complex(8) :: z(n), w(n)
  complex(4) :: small(n), w4(n)
  real(8) :: absolute(n), weighted(4)
  integer :: i, count
  do i = 1, n
    z(i) = cmplx(0.25d0 * i, 0.5d0 - 0.125d0 * i, 8)
    small(i) = cmplx(0.25 * i, 0.5)
  end do
  !$omp target teams distribute parallel do map(to: z, small) map(from: w, w4, absolute)
  do i = 1, n
    absolute(i) = abs(z(i)) + abs(small(i))
    w(i) = exp(z(i)) + log(z(i)) * sqrt(z(i)) + sin(z(i)) - cos(z(i)) + tan(z(i)) * z(i)**2
    w(i) = w(i) + sinh(z(i)) + tanh(z(i)) + z(i)**z(i)
    w4(i) = exp(small(i)) + log(small(i)) + sqrt(small(i)) + sin(small(i)) * cos(small(i)) + tanh(small(i))
  end do
  print '(f10.4)', absolute
  print '(2f12.6)', w
  print '(2f10.3)', w4
  count = 4
  !$omp target map(to: count) map(from: weighted)
  block
    real(8), allocatable :: row(:), table(:, :)
    allocate (row(count), table(count, count))
    row = 2
    table = reshape([(real(i, 8), i=1, count * count)], [count, count])
    weighted = matmul(table, row)
    row = [row, 1.0d0]
    weighted(1) = weighted(1) + size(row)
    deallocate (row, table)
  end block
  !$omp end target
  print '(4f8.1)', weighted
end program complex_functions
