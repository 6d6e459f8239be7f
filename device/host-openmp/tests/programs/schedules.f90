! Every schedule kind with several chunk sizes: each iteration exactly once.
program schedules
  use omp_lib
  implicit none
  integer, parameter :: n = 1237
  integer :: hits(n), i, chunk
  hits = 0
  !$omp target parallel do schedule(static) map(tofrom: hits)
  do i = 1, n
    hits(i) = hits(i) + 1
  end do
  call check('static')
  do chunk = 1, 9, 4
    !$omp target parallel do schedule(static, chunk) map(tofrom: hits)
    do i = 1, n
      hits(i) = hits(i) + 1
    end do
    call check('static, chunk')
    !$omp target parallel do schedule(dynamic, chunk) map(tofrom: hits)
    do i = 1, n
      hits(i) = hits(i) + 1
    end do
    call check('dynamic, chunk')
    !$omp target parallel do schedule(guided, chunk) map(tofrom: hits)
    do i = 1, n
      hits(i) = hits(i) + 1
    end do
    call check('guided, chunk')
  end do
  !$omp target parallel do schedule(dynamic) map(tofrom: hits)
  do i = 1, n
    hits(i) = hits(i) + 1
  end do
  call check('dynamic')
  !$omp target parallel do schedule(auto) map(tofrom: hits)
  do i = 1, n
    hits(i) = hits(i) + 1
  end do
  call check('auto')
  !$omp target parallel do schedule(runtime) map(tofrom: hits)
  do i = 1, n
    hits(i) = hits(i) + 1
  end do
  call check('runtime')
  !$omp target teams distribute parallel do schedule(static, 3) map(tofrom: hits)
  do i = 1, n
    hits(i) = hits(i) + 1
  end do
  call check('distribute, static 3')
  !$omp target teams distribute parallel do dist_schedule(static, 64) map(tofrom: hits)
  do i = 1, n
    hits(i) = hits(i) + 1
  end do
  call check('dist_schedule 64')
  !$omp target teams distribute parallel do dist_schedule(static, 10) schedule(static, 7) map(tofrom: hits)
  do i = 1, n
    hits(i) = hits(i) + 1
  end do
  call check('dist_schedule 10, static 7')
  !$omp target teams distribute dist_schedule(static, 5) map(tofrom: hits)
  do i = 1, n
    hits(i) = hits(i) + 1
  end do
  call check('teams distribute dist_schedule 5')
contains
  subroutine check(name)
    character(*), intent(in) :: name
    print *, name, ': ', all(hits == 1), sum(hits)
    hits = 0
  end subroutine
end program
