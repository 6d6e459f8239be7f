! Since GCC 16: data that is finalized in a queue.
program main
  use openacc
  implicit none
  integer :: a(10), i
  a = 1
  call acc_copyin(a)
  call acc_copyin(a)
  !$acc parallel loop present(a) async(1)
  do i = 1, 10
    a(i) = a(i) + i
  end do
  call acc_copyout_finalize_async(a, 1)
  call acc_wait(1)
  if (acc_is_present(a) .or. a(10) /= 11) error stop
  call acc_copyin(a)
  call acc_copyin(a)
  call acc_delete_finalize_async(a, 1)
  call acc_wait(1)
  if (acc_is_present(a)) error stop
  print '(a)', "passed"
end program
