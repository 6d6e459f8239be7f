! Since GCC 13: a region of device(ancestor: 1) ends the program, while memory of the device is kept for later.
module leaving
  implicit none
contains
  subroutine leave(x)
    integer, value :: x
    if (x == 2) then
      print '(a)', "passed"
      stop
    end if
  end subroutine
end module

program main
  use leaving
  implicit none
  !$omp requires reverse_offload
  integer :: a(1000), i, n
  n = 1
  !$omp target map(tofrom: a, n)
    a = n
  !$omp end target
  !$omp target map(tofrom: n)
    do i = 1, 5
      n = i
      !$omp target device(ancestor: 1) firstprivate(i)
        call leave(i)
      !$omp end target
    end do
  !$omp end target
  error stop
end program
