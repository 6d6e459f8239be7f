! covers: private, firstprivate and lastprivate variables of parallel loops in regions
! host: equal
program private_clauses
  implicit none
  integer, parameter :: n = 40
  integer :: i, t, seed, out(n), last
  real :: scratch(4)
  seed = 9
  t = -1
  last = 0
  scratch = 5
  !$omp target map(from: out) map(to: seed)
  !$omp teams distribute parallel do private(t) firstprivate(seed)
  do i = 1, n
    t = i * i
    out(i) = t + seed
  end do
  !$omp end teams distribute parallel do
  !$omp end target
  print '(3i6)', out(1), out(n), t
  !$omp target map(tofrom: out)
  !$omp parallel do private(t, scratch) lastprivate(last)
  do i = 1, n
    t = i + 1
    scratch = t
    out(i) = int(scratch(3)) + t
    last = out(i)
  end do
  !$omp end parallel do
  out(1) = last
  !$omp end target
  print '(4i6)', out(1), out(2), seed, t
  print '(4f4.1)', scratch
end program private_clauses
