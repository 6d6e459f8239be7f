! Locks, flush and the runtime's query procedures on the device.
program locks
  use omp_lib
  implicit none
  integer(omp_lock_kind) :: lock
  integer :: i, total
  logical :: sane
  total = 0; sane = .false.
  !$omp target map(tofrom: total, sane) map(alloc: lock)
  call omp_init_lock(lock)
  !$omp parallel do num_threads(4)
  do i = 1, 1000
    call omp_set_lock(lock)
    total = total + i
    !$omp flush
    call omp_unset_lock(lock)
  end do
  call omp_destroy_lock(lock)
  sane = omp_get_team_num() == 0 .and. omp_get_num_teams() >= 1 .and. omp_get_max_threads() >= 1 &
    .and. .not. omp_in_parallel()
  !$omp end target
  print *, total, sane
end program
