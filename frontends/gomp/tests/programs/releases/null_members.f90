! Since GCC 13: pointers of a structure that lead nowhere are null on the device, too.
program main
  implicit none
  type node
    integer :: first
    integer, pointer :: single => null()
    integer, pointer :: many(:) => null()
    character(len=8), pointer :: text => null()
  end type
  type(node) :: object
  integer, target :: number
  integer :: i, associated_ones
  logical :: on
  number = 5
  do i = 1, 20
    ! What has been in the device's memory before.
    on = .false.; associated_ones = 0
    object%single => number
    !$omp target map(tofrom: object%single, number) map(tofrom: on)
      object%single = object%single + 1
      on = .true.
    !$omp end target
    object%single => null()
    !$omp target map(tofrom: object%single, object%text, object%many) map(tofrom: associated_ones)
      if (associated(object%single)) associated_ones = associated_ones + 1
      if (associated(object%text)) associated_ones = associated_ones + 10
      if (associated(object%many)) associated_ones = associated_ones + 100
    !$omp end target
    if (associated_ones /= 0) error stop
  end do
  if (number /= 25) error stop
  print '(a)', "passed"
end program
