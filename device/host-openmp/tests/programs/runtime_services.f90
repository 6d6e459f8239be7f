! What a region can ask the Fortran runtime for: allocation and its errors,
! files and internal units, the environment, clocks, random numbers.
module lists
  type :: node
    integer :: v = 0
    type(node), pointer :: next => null()
  end type
  type :: square
    real :: side = 2
  contains
    procedure :: area
  end type
contains
  real function area(this)
    !$omp declare target
    class(square), intent(in) :: this
    area = this%side**2
  end function
end module
program runtime_services
  use lists
  implicit none
  integer :: total, number, status, length, code, i
  real :: measured
  character(30) :: line, home
  character(40) :: message
  logical :: sane
  !$omp target map(from: total, measured)
  block
    type(node), pointer :: head, p
    type(square) :: s
    class(square), allocatable :: t
    integer :: i
    head => null()
    do i = 1, 5
      allocate(p)
      p%v = i
      p%next => head
      head => p
    end do
    total = 0
    do while (associated(head))
      total = total * 10 + head%v
      p => head
      head => head%next
      deallocate(p)
    end do
    allocate(t)
    t%side = 3
    measured = s%area() + t%side
    select type (t)
    type is (square)
      measured = measured * 10
    end select
  end block
  !$omp end target
  print *, total, measured

  !$omp target map(from: line, status, number, home, length)
  block
    integer :: unit
    open(newunit=unit, status='scratch', iostat=status)
    write(unit, '(a,i5)') 'written', 77
    rewind(unit)
    read(unit, '(a)') line
    close(unit)
    call get_environment_variable('OMP_TARGET_OFFLOAD', home, length)
    read(line(8:), *) number
  end block
  !$omp end target
  print *, trim(line), status, number, length > 0

  !$omp target map(from: code, message, sane)
  block
    integer, allocatable :: q(:)
    real :: r(10)
    integer :: count, date(8)
    allocate(q(4))
    allocate(q(5), stat=code, errmsg=message)
    call random_number(r)
    call system_clock(count)
    call date_and_time(values=date)
    sane = all(r >= 0 .and. r < 1) .and. count > 0 .and. date(1) > 2000
  end block
  !$omp end target
  print *, code, trim(message), sane

  ! Every thread of a region at once.
  number = 0
  !$omp target parallel do map(tofrom: number) private(line)
  do i = 1, 500
    write(line, '(i0)') i
    if (len_trim(line) == 1 + int(log10(i + 0.5))) then
      !$omp atomic
      number = number + 1
    end if
  end do
  print *, number
end program
