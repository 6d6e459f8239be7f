! Launches of unusual shapes, and loops with unusual bounds, in Fortran: each region is compared with the host.
program launch_shapes
  use omp_lib
  implicit none
  integer, parameter :: n = 3000
  integer :: count(n), i, j, k, failures, wanted, most, teams, threads, seen, zero, last
  integer(8) :: s, e, long
  integer(1) :: small
  integer(2) :: short
  failures = 0
  zero = 0

  ! The last iterations before the type ends, upwards and downwards.
  s = 0
  !$omp target teams distribute parallel do reduction(+: s)
  do i = huge(i) - 100, huge(i) - 1
    s = s + mod(i, 1009)
  end do
  e = 0
  do i = huge(i) - 100, huge(i) - 1
    e = e + mod(i, 1009)
  end do
  call check('largest', s == e)
  s = 0
  !$omp target teams distribute parallel do num_teams(3) num_threads(33) reduction(+: s)
  do i = -huge(i) + 90, -huge(i) + 1, -7
    s = s + mod(i, 1009)
  end do
  e = 0
  do i = -huge(i) + 90, -huge(i) + 1, -7
    e = e + mod(i, 1009)
  end do
  call check('least', s == e)
  s = 0
  !$omp target teams distribute parallel do schedule(static, 1) reduction(+: s)
  do long = huge(long) - 50, huge(long) - 4, 3
    s = s + mod(long, 1009_8)
  end do
  e = 0
  do long = huge(long) - 50, huge(long) - 4, 3
    e = e + mod(long, 1009_8)
  end do
  call check('long', s == e)
  s = 0
  !$omp target teams distribute parallel do reduction(+: s)
  do small = 120_1, -120_1, -9_1
    s = s + small
  end do
  e = 0
  do small = 120_1, -120_1, -9_1
    e = e + small
  end do
  call check('one byte', s == e)
  s = 0
  !$omp target parallel do schedule(dynamic, 2) reduction(+: s)
  do short = -32000_2, 32000_2, 500_2
    s = s + short
  end do
  e = 0
  do short = -32000_2, 32000_2, 500_2
    e = e + short
  end do
  call check('two bytes', s == e)
  last = -1
  !$omp target parallel do lastprivate(last) map(tofrom: last)
  do i = 1, zero
    last = i
  end do
  call check('no iteration', last == -1)
  !$omp target parallel do lastprivate(last) map(tofrom: last) num_threads(50)
  do i = 41, 41
    last = i
  end do
  call check('one iteration', last == 41)

  ! Nests.
  s = 0
  !$omp target teams distribute parallel do collapse(3) num_teams(5) reduction(+: s)
  do i = 9, 1, -2
    do j = -3, 12, 5
      do k = 1, 7
        s = s + (i * 20 + j) * 20 + k
      end do
    end do
  end do
  e = 0
  do i = 9, 1, -2
    do j = -3, 12, 5
      do k = 1, 7
        e = e + (i * 20 + j) * 20 + k
      end do
    end do
  end do
  call check('three loops', s == e)
  s = 0
  !$omp target teams distribute parallel do collapse(2) reduction(+: s)
  do i = 1, 1000
    do j = 1, zero
      s = s + 1
    end do
  end do
  e = 0
  do i = 1, 1000
    do j = 1, zero
      e = e + 1
    end do
  end do
  call check('empty inner loop', s == e)
  s = 0
  !$omp target teams distribute parallel do private(j) reduction(+: s)
  do i = 1, 60
    do j = i, 60
      s = s + i * 100 + j
    end do
  end do
  e = 0
  do i = 1, 60
    do j = i, 60
      e = e + i * 100 + j
    end do
  end do
  call check('triangle', s == e)

  ! Schedules.
  count = 0
  !$omp target teams distribute parallel do map(tofrom: count) schedule(nonmonotonic: dynamic)
  do i = 1, n
    count(i) = count(i) + i
  end do
  call once('dynamic')
  !$omp target teams distribute parallel do map(tofrom: count) schedule(guided, 11)
  do i = 1, n
    count(i) = count(i) + i
  end do
  call once('guided')
  !$omp target teams distribute parallel do map(tofrom: count) schedule(static, 5) dist_schedule(static, 77)
  do i = 1, n
    count(i) = count(i) + i
  end do
  call once('both static')
  !$omp target teams distribute parallel do map(tofrom: count) schedule(runtime) num_teams(13)
  do i = 1, n
    count(i) = count(i) + i
  end do
  call once('runtime')
  !$omp target teams distribute parallel do simd map(tofrom: count) simdlen(8)
  do i = 1, n
    count(i) = count(i) + i
  end do
  call once('simd')
  !$omp target teams distribute map(tofrom: count) dist_schedule(static, 1) num_teams(100)
  do i = 1, n
    count(i) = count(i) + i
  end do
  call once('teams alone')
  !$omp target parallel do map(tofrom: count) schedule(dynamic, 2000) num_threads(1000)
  do i = 1, n
    count(i) = count(i) + i
  end do
  call once('threads alone')
  !$omp target parallel do map(tofrom: count) schedule(static, 5000) num_threads(33)
  do i = 1, n
    count(i) = count(i) + i
  end do
  call once('one chunk')
  !$omp target teams loop map(tofrom: count) thread_limit(40) num_teams(2)
  do i = 1, n
    count(i) = count(i) + i
  end do
  call once('loop')

  ! Grids.
  !$omp target teams num_teams(1) thread_limit(1024) map(from: teams, threads)
  !$omp parallel num_threads(1024)
  if (omp_get_thread_num() == omp_get_num_threads() - 1) then
    teams = omp_get_num_teams()
    threads = omp_get_num_threads()
  end if
  !$omp end parallel
  !$omp end target teams
  call check('one large team', teams == 1 .and. threads >= 1 .and. threads <= 1024)
  seen = 0
  !$omp target teams num_teams(65536) thread_limit(1) map(tofrom: seen) map(from: teams)
  !$omp atomic
  seen = seen + 1
  if (omp_get_team_num() == omp_get_num_teams() - 1) teams = omp_get_num_teams()
  !$omp end target teams
  call check('many teams', seen == teams .and. teams >= 1 .and. teams <= 65536)
  do wanted = 31, 129, 14
    seen = 0
    !$omp target parallel num_threads(wanted) map(tofrom: seen) map(from: most)
    !$omp atomic
    seen = seen + omp_get_thread_num()
    if (omp_get_thread_num() == 0) most = omp_get_num_threads()
    !$omp end target parallel
    call check('threads', seen == most * (most - 1) / 2 .and. most >= 1 .and. most <= wanted)
  end do
  if (failures /= 0) stop 1
  print '(a)', 'passed'
contains
  subroutine check(what, good)
    character(len=*), intent(in) :: what
    logical, intent(in) :: good
    if (good) return
    failures = failures + 1
    print '(2a)', 'wrong: ', what
  end subroutine

  ! Each iteration has been done once, and the next loop begins anew.
  subroutine once(what)
    character(len=*), intent(in) :: what
    integer :: at
    call check(what, all(count == [(at, at = 1, n)]))
    count = 0
  end subroutine
end program
