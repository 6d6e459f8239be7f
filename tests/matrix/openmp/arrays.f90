! Allocatable arrays, sections, reductions, functions and variables of modules in target regions.
module device_part
  implicit none
  integer :: factor = 2
  !$omp declare target (factor)
contains
  pure integer function doubled(value)
    !$omp declare target
    integer, intent(in) :: value
    doubled = 2 * value
  end function
end module

program arrays
  use omp_lib
  use device_part
  implicit none
  integer, parameter :: n = 5000
  integer, allocatable :: a(:), b(:, :)
  integer :: i, j, total, wrong
  logical :: host
  wrong = 0
  host = .true.
  !$omp target map(from: host)
  host = omp_is_initial_device()
  !$omp end target
  if (host) wrong = wrong + 1

  allocate(a(n), b(50, 100))
  a = [(i, i = 1, n)]
  total = 0
  !$omp target teams distribute parallel do map(tofrom: a) reduction(+: total)
  do i = 1, n
    a(i) = doubled(a(i))
    total = total + mod(a(i), 10)
  end do
  wrong = wrong + count(a /= [(2 * i, i = 1, n)])
  if (total /= sum(mod(a, 10))) wrong = wrong + 1

  b = 0
  !$omp target teams distribute parallel do collapse(2) map(tofrom: b(:, 11:90))
  do j = 11, 90
    do i = 1, 50
      b(i, j) = 100 * i + j
    end do
  end do
  do j = 1, 100
    do i = 1, 50
      if (b(i, j) /= merge(100 * i + j, 0, j >= 11 .and. j <= 90)) wrong = wrong + 1
    end do
  end do

  !$omp target data map(tofrom: a)
  !$omp target
  factor = 3
  a(1) = factor
  !$omp end target
  !$omp target update from(factor)
  !$omp end target data
  if (a(1) /= 3 .or. factor /= 3) wrong = wrong + 1

  print '(a, i0, a)', 'arrays in Fortran: ', wrong, ' wrong'
  if (wrong /= 0) stop 1
end program
