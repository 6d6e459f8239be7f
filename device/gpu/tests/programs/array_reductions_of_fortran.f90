! Reductions of whole arrays: several in one clause, of several ranks, over teams, threads and both, with more teams
! than fit into a buffer of pointers.
program array_reductions
  implicit none
  integer, parameter :: n = 20000
  real :: a(10), a_host(10), x, x_host
  real(8) :: b(3, 5), b_host(3, 5)
  complex :: c(2), c_host(2)
  integer :: m(7), m_host(7), i
  logical :: good

  a = 1; x = 2; b = 3; c = (1, 2); m = 5
  a_host = a; x_host = x; b_host = b; c_host = c; m_host = m
  !$omp target teams distribute parallel do num_teams(700) thread_limit(64) map(tofrom: a, x, b, c, m) &
  !$omp& reduction(+: a, x, b, c) reduction(max: m)
  do i = 1, n
    a(mod(i, 10) + 1) = a(mod(i, 10) + 1) + 1
    x = x + 1
    b(2, 2) = b(2, 2) + i
    b(3, 5) = b(3, 5) + 2
    c(2) = c(2) + (1, -1)
    m(mod(i, 7) + 1) = max(m(mod(i, 7) + 1), i)
  end do
  do i = 1, n
    a_host(mod(i, 10) + 1) = a_host(mod(i, 10) + 1) + 1
    x_host = x_host + 1
    b_host(2, 2) = b_host(2, 2) + i
    b_host(3, 5) = b_host(3, 5) + 2
    c_host(2) = c_host(2) + (1, -1)
    m_host(mod(i, 7) + 1) = max(m_host(mod(i, 7) + 1), i)
  end do
  good = all(a == a_host) .and. x == x_host .and. all(b == b_host) .and. all(c == c_host) .and. all(m == m_host)
  if (.not. good) print *, 'teams and threads', a, x, b, c, m

  !$omp target parallel do num_threads(77) map(tofrom: a, b) reduction(+: a) reduction(min: b)
  do i = 1, 1000
    a(3) = a(3) + 1
    a(10) = a(10) + mod(i, 3)
    b(1, 2) = min(b(1, 2), real(-i, 8))
  end do
  a_host(3) = a_host(3) + 1000
  a_host(10) = a_host(10) + 1000
  b_host(1, 2) = -1000
  if (any(a /= a_host) .or. any(b /= b_host)) then
    print *, 'threads', a, b
    good = .false.
  end if

  !$omp target teams distribute map(tofrom: b) reduction(+: b)
  do i = 1, 100
    b(2, 3) = b(2, 3) + i
  end do
  b_host(2, 3) = b_host(2, 3) + 5050
  if (any(b /= b_host)) then
    print *, 'teams', b
    good = .false.
  end if
  print '(a)', merge('passed', 'failed', good)
end program
