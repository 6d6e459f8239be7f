! Every reduction operator, at the teams level and at the parallel level.
program reductions
  implicit none
  integer, parameter :: n = 1000
  integer :: i, total, smallest, largest, both, either, differ, product32
  integer(8) :: wide
  real(8) :: sum64, largest64
  real(4) :: sum32
  complex(8) :: z
  logical :: all_set, any_set, even
  integer :: a(n)
  do i = 1, n
    a(i) = mod(i * 7919, 1009)
  end do

  total = 5; wide = 10000000000_8; sum64 = 0.5d0
  !$omp target teams distribute parallel do map(tofrom: total, wide, sum64) &
  !$omp&  reduction(+: total, wide, sum64)
  do i = 1, n
    total = total + a(i)
    wide = wide + int(a(i), 8) * 1000000
    sum64 = sum64 + a(i)
  end do
  print *, total, wide, sum64

  smallest = huge(smallest); largest = -huge(largest); largest64 = -1
  !$omp target parallel do map(tofrom: smallest, largest, largest64) &
  !$omp&  reduction(min: smallest) reduction(max: largest, largest64)
  do i = 1, n
    smallest = min(smallest, a(i))
    largest = max(largest, a(i))
    largest64 = max(largest64, dble(a(i)))
  end do
  print *, smallest, largest, largest64

  both = not(0); either = 0; differ = 0; product32 = 1
  !$omp target teams distribute parallel do map(tofrom: both, either, differ, product32) &
  !$omp&  reduction(iand: both) reduction(ior: either) reduction(ieor: differ) reduction(*: product32)
  do i = 1, n
    both = iand(both, ior(a(i), 4096))
    either = ior(either, a(i))
    differ = ieor(differ, a(i))
    if (mod(i, 100) == 0) product32 = product32 * 2
  end do
  print *, both, either, differ, product32

  all_set = .true.; any_set = .false.; even = .true.
  !$omp target parallel do map(tofrom: all_set, any_set, even) &
  !$omp&  reduction(.and.: all_set) reduction(.or.: any_set) reduction(.eqv.: even)
  do i = 1, n
    all_set = all_set .and. a(i) >= 0
    any_set = any_set .or. a(i) == 500
    even = even .eqv. (mod(a(i), 2) == 0)
  end do
  print *, all_set, any_set, even

  z = (0d0, 0d0); sum32 = 0
  !$omp target teams distribute parallel do map(tofrom: z, sum32) reduction(+: z, sum32)
  do i = 1, n
    z = z + cmplx(i, -i, 8)
    sum32 = sum32 + 1.0
  end do
  print *, z, sum32

  total = 0
  !$omp target teams distribute reduction(+: total) map(tofrom: total)
  do i = 1, n
    total = total + i
  end do
  print *, total
end program
