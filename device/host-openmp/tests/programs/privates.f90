! private, firstprivate, lastprivate; arrays and allocatables among them.
program privates
  implicit none
  integer, parameter :: n = 1000
  integer :: i, tmp, base, last, out(n), table(4), seen
  integer, allocatable :: work(:)
  base = 100; tmp = -1; last = 0
  table = [1, 10, 100, 1000]
  !$omp target teams distribute parallel do private(tmp) map(to: table) map(from: out)
  do i = 1, n
    tmp = base + i
    out(i) = tmp * table(mod(i, 4) + 1)
  end do
  print *, sum(out), tmp
  !$omp target parallel do lastprivate(last) map(tofrom: last)
  do i = 1, n
    last = i * 3
  end do
  print *, last
  allocate(work(3))
  work = [5, 6, 7]
  seen = 0
  !$omp target map(tofrom: seen) map(to: work)
  !$omp parallel do firstprivate(work, base) reduction(+: seen)
  do i = 1, n
    work(1) = work(2) + i
    seen = seen + work(1) - work(2) + base
  end do
  !$omp end target
  print *, seen, work
  !$omp target map(tofrom: base)
  !$omp parallel private(tmp) num_threads(2)
  tmp = 9
  !$omp single
  base = base + tmp
  !$omp end single
  !$omp end parallel
  !$omp end target
  print *, base
end program
