! target nowait with depend and taskwait; several host threads launching.
program tasks_nowait
  use omp_lib
  implicit none
  integer, parameter :: n = 1000
  integer :: i, a(n), b(n), c(n), t, per_thread(4)
  a = 1; b = 2; c = 0
  !$omp parallel num_threads(2)
  !$omp single
  !$omp target parallel do nowait map(tofrom: a) depend(out: a)
  do i = 1, n
    a(i) = a(i) + i
  end do
  !$omp target parallel do nowait map(tofrom: b) depend(out: b)
  do i = 1, n
    b(i) = b(i) * i
  end do
  !$omp target parallel do nowait map(to: a, b) map(from: c) depend(in: a, b)
  do i = 1, n
    c(i) = a(i) + b(i)
  end do
  !$omp taskwait
  !$omp end single
  !$omp end parallel
  print *, sum(a), sum(b), sum(c)

  per_thread = 0
  !$omp parallel do num_threads(4) private(i)
  do t = 1, 4
    call work(t, per_thread(t))
  end do
  print *, per_thread
contains
  subroutine work(k, out)
    integer, intent(in) :: k
    integer, intent(out) :: out
    integer :: j, s, round
    out = 0
    do round = 1, 50
      s = 0
      !$omp target parallel do map(tofrom: s) reduction(+: s)
      do j = 1, 100
        s = s + k * j
      end do
      out = out + s
    end do
  end subroutine
end program
