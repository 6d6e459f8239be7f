! Since GCC 13: each thread of each team has the host run a region, once for each call.
module state
  implicit none
  integer, parameter :: most = 256, calls = 5, part = 8
  integer :: on_host(most) = 0, wrong_on_host = 0
contains
  ! A procedure has the variables themselves, of which the region around has copies.
  subroutine note(me, mine, call_)
    integer, value :: me, call_
    integer :: mine(part), i
    on_host(me) = on_host(me) + 1
    do i = 1, part
      if (mine(i) /= i + me * part + 1000 * call_ + 10000 * (call_ - 1)) wrong_on_host = wrong_on_host + 1
    end do
  end subroutine
end module

program main
  use omp_lib
  use state
  implicit none
  !$omp requires reverse_offload
  integer :: x(part, most), started, wrong, i, j, me, call_
  logical :: on_device
  started = 0; wrong = 0; on_device = .false.
  do j = 1, most
    x(:, j) = [(i + j * part, i = 1, part)]
  end do
  !$omp target teams num_teams(5) thread_limit(8) map(tofrom: x, started, on_device, wrong)
  !$omp parallel num_threads(6) private(me, call_, i)
    !$omp atomic capture
    started = started + 1
    me = started
    !$omp end atomic
    if (me == 1) on_device = .not. omp_is_initial_device()
    do call_ = 1, calls
      x(:, me) = x(:, me) + 1000
      !$omp target device(ancestor: 1) firstprivate(me, call_) map(always, tofrom: x(:, me))
        call note(me, x(:, me), call_)
        x(:, me) = x(:, me) + 10000
      !$omp end target
      do i = 1, part
        if (x(i, me) /= i + me * part + 11000 * call_) then
          !$omp atomic
          wrong = wrong + 1
        end if
      end do
    end do
  !$omp end parallel
  !$omp end target teams
  if (.not. on_device .or. started < 5 .or. wrong /= 0 .or. wrong_on_host /= 0) error stop
  if (any(on_host(:started) /= calls) .or. any(on_host(started + 1:) /= 0)) error stop
  do j = 1, most
    if (any(x(:, j) /= [(i + j * part, i = 1, part)] + merge(11000 * calls, 0, j <= started))) error stop
  end do
  print '(a)', "passed"
end program
