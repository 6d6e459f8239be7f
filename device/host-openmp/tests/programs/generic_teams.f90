! Generic mode: sequential code of a team between parallel regions, with
! team-local variables shared by the threads of the team.
program generic_teams
  use omp_lib
  implicit none
  integer, parameter :: rows = 60, columns = 70
  integer :: i, j, row_sum, a(columns, rows), totals(rows), firsts(rows)
  !$omp target teams distribute map(from: a, totals, firsts) private(row_sum)
  do j = 1, rows
    row_sum = 0
    !$omp parallel do
    do i = 1, columns
      a(i, j) = i * j
    end do
    firsts(j) = a(1, j)
    !$omp parallel do reduction(+: row_sum)
    do i = 1, columns
      row_sum = row_sum + a(i, j)
    end do
    totals(j) = row_sum
  end do
  print *, sum(totals), totals(1), totals(rows), sum(firsts)

  !$omp target map(tofrom: a)
  do j = 1, 5
    !$omp parallel do collapse(2) schedule(static, 1)
    do i = 1, rows
      do row_sum = 1, columns
        a(row_sum, i) = a(row_sum, i) + 1
      end do
    end do
  end do
  !$omp end target
  print *, sum(a)
end program
