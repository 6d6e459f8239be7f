! Allocatable arrays of device procedures beyond a heap of 8 MiB: the rest comes from the host.
program heap_of_fortran
  use omp_lib
  implicit none
  integer, parameter :: n = 64
  integer :: i, wrong

  wrong = 0
  !$omp target teams distribute parallel do reduction(+: wrong) map(tofrom: wrong)
  do i = 1, n
    wrong = wrong + trial(i, 65536)
  end do
  if (wrong /= 0) then
    print '(i0, a)', wrong, ' trials went wrong'
    stop 1
  end if
  print '(a)', 'passed'

contains
  ! 512 KiB for each caller.
  integer function trial(i, length)
    !$omp declare target
    integer, intent(in) :: i, length
    integer, allocatable :: one(:), other(:)
    allocate(one(length), other(length))
    one(1) = i
    one(length) = 2 * i
    other(1) = 3 * i
    other(length) = 4 * i
    trial = merge(0, 1, one(1) == i .and. one(length) == 2 * i)
    trial = trial + merge(0, 1, other(1) == 3 * i .and. other(length) == 4 * i)
    deallocate(one, other)
  end function
end program
