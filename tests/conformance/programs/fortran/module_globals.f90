! covers: declare target module variables, parameters and procedures, update of module data
! host: equal
module state
  implicit none
  integer :: counter = 5
  real(8) :: table(4) = [1.0d0, 2.0d0, 4.0d0, 8.0d0]
  integer, parameter :: step = 3
  !$omp declare target(counter, table)
contains
  subroutine advance(by)
    integer, intent(in) :: by
    !$omp declare target
    counter = counter + by * step
  end subroutine advance
  pure real(8) function look(i)
    integer, intent(in) :: i
    !$omp declare target
    look = table(i) * 0.5d0
  end function look
end module state

program module_globals
  use state
  implicit none
  integer :: got
  real(8) :: value
  !$omp target map(from: got, value)
  call advance(2)
  got = counter
  value = look(4)
  !$omp end target
  print '(i5, f8.3)', got, value
  table(2) = 100
  !$omp target update to(table)
  !$omp target map(from: value)
  value = look(2)
  !$omp end target
  !$omp target update from(counter)
  print '(i5, f8.3)', counter, value
end program module_globals
