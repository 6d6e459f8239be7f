! Reductions of Fortran: every operator and kind that flang-22 has for GPUs, arrays and complex numbers.
program reductions_of_fortran
  implicit none
  integer, parameter :: n = 3000
  integer :: i, j, failures, small, large, bits, ones, flips
  integer(8) :: total, inner
  integer(2) :: short
  real :: single, low
  real(8) :: double, product
  logical :: all_true, any_true, same
  failures = 0

  total = 5
  small = 7
  large = -7
  double = 0
  single = 0
  !$omp target teams distribute parallel do map(tofrom: total, small, large, double, single) &
  !$omp& reduction(+: total, double, single) reduction(min: small) reduction(max: large)
  do i = 1, n
    total = total + i
    double = double + 0.5d0
    single = single + 1
    small = min(small, -i)
    large = max(large, i)
  end do
  call check('sum of integers', total == 5 + int(n, 8) * (n + 1) / 2)
  call check('sum of double precision', double == n / 2)
  call check('sum of reals', single == n)
  call check('least', small == -n)
  call check('largest', large == n)

  bits = 0
  ones = -1
  flips = 0
  all_true = .true.
  any_true = .false.
  !$omp target teams distribute parallel do map(tofrom: bits, ones, flips, all_true, any_true) &
  !$omp& reduction(ior: bits) reduction(iand: ones) reduction(ieor: flips) &
  !$omp& reduction(.and.: all_true) reduction(.or.: any_true)
  do i = 1, n
    bits = ior(bits, ishft(1, mod(i, 11)))
    ones = iand(ones, not(ishft(1, mod(i, 7))))
    flips = ieor(flips, i)
    all_true = all_true .and. i > 0
    any_true = any_true .or. i == n
  end do
  call check('ior', bits == 2047)
  call check('iand', ones == -128)
  call check('ieor', flips == folded(n))
  call check('and', all_true)
  call check('or', any_true)

  product = 1
  low = 1e30
  !$omp target parallel do map(tofrom: product, low) reduction(*: product) reduction(min: low)
  do i = 1, 60
    product = product * 2
    low = min(low, 100. - i)
  end do
  call check('product', product == 2d0**60)
  call check('least real', low == 40)

  inner = 0
  !$omp target teams distribute reduction(+: inner) map(tofrom: inner)
  do i = 1, 20
    !$omp parallel do reduction(+: inner)
    do j = 1, 50
      inner = inner + i * j
    end do
  end do
  call check('regions in teams', inner == 210 * 1275)

  if (failures == 0) print '(a)', 'passed'
  if (failures /= 0) error stop 'failed'

contains

  subroutine check(name, holds)
    character(*), intent(in) :: name
    logical, intent(in) :: holds
    if (holds) return
    failures = failures + 1
    print '(2a)', 'wrong: ', name
  end subroutine check

  integer function folded(last)
    integer, intent(in) :: last
    integer :: k
    folded = 0
    do k = 1, last
      folded = ieor(folded, k)
    end do
  end function folded
end program reductions_of_fortran
