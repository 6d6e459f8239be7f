! teams with num_teams and thread_limit: what does not depend on how many
! teams an implementation chooses must come out the same.
program leagues
  use omp_lib
  implicit none
  integer, parameter :: n = 4000
  integer :: i, j, a(n), teams, limit, members, sums(40)
  a = 0
  !$omp target teams distribute parallel do num_teams(8) thread_limit(2) map(tofrom: a)
  do i = 1, n
    a(i) = a(i) + i
  end do
  print *, sum(a), a(n)
  teams = 0; limit = 0; members = 0
  !$omp target teams num_teams(3) thread_limit(2) map(tofrom: teams, limit, members) reduction(max: teams, limit, members)
  teams = omp_get_num_teams()
  limit = omp_get_team_num()
  !$omp parallel reduction(max: members)
  members = omp_get_num_threads()
  !$omp end parallel
  !$omp end target teams
  print *, teams >= 1 .and. teams <= 3, limit < teams, members >= 1 .and. members <= 2
  sums = 0
  !$omp target teams distribute map(tofrom: sums)
  do j = 1, 40
    !$omp parallel do reduction(+: sums)
    do i = 1, 100
      sums(j) = sums(j) + i * j
    end do
  end do
  print *, sums(1), sums(40), sum(sums)
end program
