! Since GCC 13: variables that device code reaches by pointers of its own, in a region for the host.
module regions
  implicit none
  !$omp requires reverse_offload
contains
  subroutine change(x, y)
    integer :: x, y
    x = x + 3
    y = y + 3
  end subroutine
  subroutine of_device(x, y)
    integer :: x, y
    !$omp declare target
    x = x + 2
    y = y + 7
    !$omp target device(ancestor: 1) map(tofrom: x)
      call change(x, y)
    !$omp end target
  end subroutine
end module

program main
  use regions
  implicit none
  !$omp requires reverse_offload
  integer :: a, b, seen(4)
  integer, allocatable :: mapped, always
  mapped = 532; always = 55; seen = 0
  !$omp target map(from: a, b)
  block
    integer :: x, y
    x = 2; y = 3
    call of_device(x, y)
    a = x; b = y
  end block
  if (a /= 7 .or. b /= 10) error stop
  !$omp target map(tofrom: mapped, always) map(tofrom: seen)
    mapped = mapped * 4
    always = always * 5
    !$omp target device(ancestor: 1) map(to: mapped) map(always, tofrom: always, seen)
      seen(1) = mapped
      seen(2) = always
      always = always + 1
    !$omp end target
    seen(3) = mapped
    seen(4) = always
  !$omp end target
  if (any(seen /= [532, 275, 2128, 276])) error stop
  print '(a)', "passed"
end program
