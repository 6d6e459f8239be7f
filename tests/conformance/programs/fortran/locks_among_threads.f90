! covers: critical inside critical, an early way out of one, locks by index, among more threads than a wave has
! host: equal
program locks_among_threads
  use omp_lib
  implicit none
  integer :: total, both, i, bins(4), locks
  integer(omp_lock_kind) :: lock(4)
  total = 0
  both = 0
  bins = 0
  !$omp target map(tofrom: total, both)
  !$omp parallel do num_threads(96)
  do i = 1, 200
    !$omp critical
    total = total + i
    if (mod(i, 3) /= 0) then
      !$omp critical (inner)
      both = both + 1
      !$omp end critical (inner)
    end if
    !$omp end critical
  end do
  !$omp end parallel do
  !$omp end target
  !$omp target data map(alloc: lock)
  !$omp target
  do i = 1, 4
    call omp_init_lock(lock(i))
  end do
  !$omp end target
  ! Not in the region before: flang has each thread of this one run what is not in the loop.
  !$omp target map(tofrom: bins)
  !$omp parallel do num_threads(96) private(locks)
  do i = 1, 200
    locks = mod(i * 31, 97)
    locks = mod(locks, 4) + 1
    call omp_set_lock(lock(locks))
    bins(locks) = bins(locks) + i
    call omp_unset_lock(lock(locks))
  end do
  !$omp end parallel do
  !$omp end target
  !$omp end target data
  print *, total, both, bins
end program locks_among_threads
