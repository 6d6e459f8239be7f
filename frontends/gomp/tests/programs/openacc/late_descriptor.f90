! An allocatable array that the device has for good, whose data come to be there without its descriptor:
! the first construct that names the array brings the descriptor, and others leave it as it is.
module arrays
  implicit none
  integer, allocatable :: b(:)
  !$acc declare create(b)
contains
  integer function upper()
    !$acc routine seq
    upper = -1
    if (allocated(b)) upper = ubound(b, 1)
  end function upper
end module arrays

program late_descriptor
  use arrays
  use openacc
  implicit none
  integer :: found, of_array, first

  allocate (b(-3:6))
  call acc_create(b)
  b = 5
  call acc_update_device(b)
  !$acc serial copyout(found)
  found = upper()
  !$acc end serial
  if (found /= -1) stop 1
  !$acc serial present(b) copyout(found, of_array, first)
  found = upper()
  of_array = ubound(b, 1)
  first = b(-3)
  !$acc end serial
  if (found /= 6 .or. of_array /= 6 .or. first /= 5) stop 2
  call acc_delete(b)
  deallocate (b)

  ! Another array is in its place.
  allocate (b(11))
  call acc_create(b)
  !$acc serial copyout(found)
  found = upper()
  !$acc end serial
  if (found /= 6) stop 3
  !$acc serial present(b) copyout(found, of_array)
  b(11) = 7
  found = upper()
  of_array = ubound(b, 1)
  !$acc end serial
  if (found /= 11 .or. of_array /= 11) stop 4
  call acc_update_self(b)
  if (b(11) /= 7) stop 5
  call acc_delete(b)
  deallocate (b)
  print '(a)', 'passed'
end program late_descriptor
