! Since GCC 13: first-private arrays that are allocated, or are passed by descriptor.
module arrays
  implicit none
contains
  subroutine of_argument(c)
    integer, allocatable, optional :: c(:)
    logical :: there, on
    integer :: wrong
    there = present(c)
    wrong = 0; on = .false.
    !$omp target firstprivate(c) map(tofrom: wrong, on)
      on = .true.
      if (there) then
        if (.not. allocated(c)) then
          wrong = 1
        else
          if (any(c /= [1, 2, 3, 4])) wrong = wrong + 2
          c = [99, 88, 77, 66]
          if (any(c /= [99, 88, 77, 66])) wrong = wrong + 4
        end if
      end if
    !$omp end target
    if (.not. on .or. wrong /= 0) error stop
    if (there) then
      if (any(c /= [1, 2, 3, 4])) error stop
    end if
  end subroutine
end module

program main
  use arrays
  implicit none
  integer, allocatable :: x(:), none(:)
  real, allocatable :: y(:, :)
  real :: sums(2)
  integer :: wrong, i
  x = [1, 2, 3, 4]
  call of_argument(x)
  call of_argument()
  allocate (y(3, -1:2))
  y = reshape([(real(i), i = 1, 12)], [3, 4])
  wrong = 0; sums = 0
  !$omp target firstprivate(y, none) map(tofrom: sums, wrong) nowait depend(inout: sums)
    if (allocated(none)) wrong = 1
    if (any(shape(y) /= [3, 4]) .or. lbound(y, 2) /= -1) wrong = wrong + 2
    sums(1) = sum(y)
    y(2, 0) = 1000
    sums(2) = y(2, 0) + y(2, 2)
  !$omp end target
  !$omp taskwait
  if (wrong /= 0 .or. any(sums /= [78., 1011.])) error stop
  if (sum(y) /= 78) error stop
  do i = 1, 50
    !$omp target firstprivate(x) map(tofrom: wrong)
      x = x + 1
      wrong = wrong + x(4)
    !$omp end target
  end do
  if (wrong /= 250 .or. any(x /= [1, 2, 3, 4])) error stop
  print '(a)', "passed"
end program
