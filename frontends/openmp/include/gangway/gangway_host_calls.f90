! Functions of the host that code in a target region calls: gangway/host_call.h for Fortran.
! Compile this file with the program.
!
!   call gangway_register("ask", ask)          ! subroutine ask(block, size) bind(C)
!   !$omp target map(tofrom: q)
!   outcome = gangway_host_call(gangway_host_function("ask"), c_loc(q), c_sizeof(q))
!   !$omp end target
module gangway_host_calls
  use, intrinsic :: iso_c_binding
  implicit none
  private
  public :: gangway_host_call, gangway_host_function, gangway_host_call_device
  public :: gangway_register, gangway_unregister, gangway_host_procedure

  integer(c_int), parameter, public :: gangway_host_call_done = 0
  integer(c_int), parameter, public :: gangway_host_call_unknown = 1
  integer(c_int), parameter, public :: gangway_host_call_malformed = 2
  integer(c_int), parameter, public :: gangway_host_call_failed = 3
  integer(c_int), parameter, public :: gangway_host_call_unserved = 4

  abstract interface
    subroutine gangway_host_procedure(block, size) bind(C)
      import :: c_ptr, c_size_t
      type(c_ptr), value :: block
      integer(c_size_t), value :: size
    end subroutine
  end interface

  interface
    ! Calls the function of a number with a block of so many bytes.
    function gangway_host_call(function, block, size) result(outcome) bind(C, name="gangway_host_call")
      import :: c_int, c_int64_t, c_ptr, c_size_t
      !$omp declare target
      integer(c_int64_t), value :: function
      type(c_ptr), value :: block
      integer(c_size_t), value :: size
      integer(c_int) :: outcome
    end function

    ! On the host only: the device whose call is served.
    function gangway_host_call_device() result(device) bind(C, name="gangway_host_call_device")
      import :: c_int
      integer(c_int) :: device
    end function

    function register_function(name, function) result(outcome) bind(C, name="gangway_register_host_function")
      import :: c_char, c_int, c_funptr
      character(kind=c_char), intent(in) :: name(*)
      type(c_funptr), value :: function
      integer(c_int) :: outcome
    end function

    function unregister_function(name, function) result(outcome) bind(C, name="gangway_unregister_host_function")
      import :: c_char, c_int, c_funptr
      character(kind=c_char), intent(in) :: name(*)
      type(c_funptr), value :: function
      integer(c_int) :: outcome
    end function
  end interface

contains

  ! The number of a function: the FNV-1a hash of its name.
  function gangway_host_function(name) result(hash)
    !$omp declare target
    character(*), intent(in) :: name
    integer(c_int64_t) :: hash
    integer :: at
    hash = -3750763034362895579_c_int64_t
    do at = 1, len(name)
      hash = ieor(hash, int(ichar(name(at:at)), c_int64_t)) * 1099511628211_c_int64_t
    end do
  end function

  ! Lets devices call a procedure by its name; stops if another one has that name.
  subroutine gangway_register(name, procedure)
    character(*), intent(in) :: name
    procedure(gangway_host_procedure) :: procedure
    if (register_function(name // c_null_char, c_funloc(procedure)) /= 0) error stop "gangway_register failed"
  end subroutine

  subroutine gangway_unregister(name, procedure)
    character(*), intent(in) :: name
    procedure(gangway_host_procedure) :: procedure
    if (unregister_function(name // c_null_char, c_funloc(procedure)) /= 0) error stop "gangway_unregister failed"
  end subroutine
end module
