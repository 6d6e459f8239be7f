! Since GCC 13: one callback for each call.
program main
  use omp_lib
  implicit none
  !$omp requires reverse_offload
  integer :: a(10), i, total, calls
  logical :: on
  total = 0; calls = 0; on = .false.
  a = [(i, i = 1, 10)]
  !$omp target map(tofrom: a, total, calls, on)
    on = .not. omp_is_initial_device()
    a = a * 2
    do i = 1, 3
      !$omp target device(ancestor: 1) map(always, tofrom: a, total, calls)
        total = total + sum(a)
        a = a + 1
        calls = calls + 1
      !$omp end target
    end do
    total = total + 1000
  !$omp end target
  if (.not. on .or. calls /= 3 .or. total /= 1360 .or. a(10) /= 23) error stop
  print '(a)', "passed"
end program
