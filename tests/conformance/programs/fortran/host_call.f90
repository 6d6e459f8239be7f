! covers: host calls of Fortran
! stock: unusable because host calls are not in it
! levels: O0 O2
include '../../../../frontends/openmp/include/gangway/gangway_host_calls.f90'

module questions
  use gangway_host_calls
  use, intrinsic :: iso_c_binding
  implicit none
  type, bind(C) :: question
    real(c_double) :: x, answer
    integer(c_int) :: device
  end type
contains
  subroutine ask(block, size) bind(C)
    type(c_ptr), value :: block
    integer(c_size_t), value :: size
    type(question), pointer :: q
    call c_f_pointer(block, q)
    q%answer = sqrt(q%x)
    q%device = gangway_host_call_device()
    if (size /= c_sizeof(q)) q%answer = -1
  end subroutine
end module

program host_call
  use questions
  implicit none
  type(question), target :: q(4)
  integer(c_int) :: outcome(4), unknown
  integer :: i
  call gangway_register('ask', ask)
  q%x = [1, 4, 9, 16]
  q%answer = 0
  !$omp target map(tofrom: q) map(from: outcome, unknown)
  do i = 1, 4
    outcome(i) = gangway_host_call(gangway_host_function('ask'), c_loc(q(i)), c_sizeof(q(i)))
  end do
  unknown = gangway_host_call(gangway_host_function('nobody'), c_null_ptr, 0_c_size_t)
  !$omp end target
  print '(4f6.2)', q%answer
  print '(4i3)', q%device, outcome
  print *, unknown == gangway_host_call_unknown
  call gangway_unregister('ask', ask)
end program
