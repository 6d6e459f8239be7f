! What flang-22 makes of regions in its own way: ordered loops, named and unnamed critical regions.
program regions_of_fortran
  use omp_lib
  implicit none
  integer, parameter :: n = 60
  integer :: i, k, round, first, second, threads, order(n), again(n)
  logical :: good

  order = 0
  again = 0
  k = 0
  !$omp target map(tofrom: k, order, again)
  !$omp parallel num_threads(10) private(round)
  do round = 1, 3
    !$omp do ordered
    do i = 1, n
      ! Some iterations have no ordered region.
      if (mod(i, 7) /= 0) then
        !$omp ordered
        k = k + 1
        order(i) = k
        !$omp end ordered
      end if
    end do
    !$omp end do
  end do
  !$omp do ordered
  do i = 1, n
    !$omp ordered
    k = k - 1
    again(i) = k
    !$omp end ordered
  end do
  !$omp end do
  !$omp end parallel
  !$omp end target
  good = k == 3 * (n - n / 7) - n
  do i = 1, n
    good = good .and. again(i) == 3 * (n - n / 7) - i
    if (mod(i, 7) /= 0) good = good .and. order(i) == 2 * (n - n / 7) + i - i / 7
  end do
  if (.not. good) print *, 'ordered:', k, order, again

  ! At -O0 regions have one thread: flang-22 leaves no room for the main one.
  first = 0
  second = 0
  threads = 0
  !$omp target teams map(tofrom: first, second, threads) num_teams(3)
  !$omp parallel num_threads(9)
  !$omp critical(name)
  first = first + 1
  threads = omp_get_num_threads()
  !$omp end critical(name)
  !$omp critical
  second = second + 2
  !$omp end critical
  !$omp end parallel
  !$omp end target teams
  if (first /= 3 * threads .or. second /= 6 * threads .or. threads == 0) then
    good = .false.
    print *, 'critical:', first, second, threads
  end if

  if (good) print '(a)', 'passed'
  if (.not. good) error stop 'failed'
end program regions_of_fortran
