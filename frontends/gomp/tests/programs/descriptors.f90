! Arrays with descriptors, components, sections, optional arguments.
program descriptors
  use omp_lib
  implicit none
  type point
    integer :: number
    real(8) :: values(3)
  end type
  integer :: round
  call check(omp_get_num_devices() > 0, 1)
  do round = 1, 3
    call allocatables()
    call pointers()
    call shapes(reshape([(real(round, 8), round = 1, 12)], [3, 4]))
    call optional_argument()
    call data_region()
  end do
  print '(a)', 'passed'
contains
  subroutine check(holds, number)
    logical, intent(in) :: holds
    integer, intent(in) :: number
    if (.not. holds) then
      print *, 'check', number, 'does not hold'
      stop 1
    end if
  end subroutine

  subroutine allocatables()
    real(8), allocatable :: a(:), b(:, :)
    integer :: i
    allocate (a(5:104), b(4, 3))
    a = 1
    b = 2
    !$omp target map(tofrom: a, b)
    do i = lbound(a, 1), ubound(a, 1)
      a(i) = a(i) + i
    end do
    b(size(b, 1), 2) = 9
    !$omp end target
    call check(a(5) == 6 .and. a(104) == 105, 11)
    call check(b(4, 2) == 9 .and. b(3, 2) == 2, 12)
    !$omp target map(tofrom: a(10:20))
    a(10:20) = 0
    !$omp end target
    call check(a(9) == 10 .and. a(10) == 0 .and. a(20) == 0 .and. a(21) == 22, 13)
  end subroutine

  subroutine pointers()
    integer, pointer :: p(:)
    integer, target :: t(10)
    logical :: associated_there
    t = 1
    p => t
    !$omp target map(tofrom: p)
    p = p + 1
    !$omp end target
    call check(all(t == 2) .and. associated(p, t), 21)
    nullify (p)
    !$omp target map(to: p) map(from: associated_there)
    associated_there = associated(p)
    !$omp end target
    call check(.not. associated_there, 22)
  end subroutine

  subroutine shapes(a)
    real(8), intent(in) :: a(:, :)
    real(8) :: total
    total = 0
    !$omp target map(to: a) map(tofrom: total)
    total = sum(a) + size(a, 2)
    !$omp end target
    call check(total == 82, 31)
  end subroutine

  subroutine optional_argument(a)
    integer, optional, intent(in) :: a(:)
    integer :: n
    n = -1
    !$omp target map(to: a) map(from: n)
    n = 0
    if (present(a)) n = size(a)
    !$omp end target
    call check(n == 0, 41)
  end subroutine

  subroutine data_region()
    integer, allocatable :: list(:)
    type(point) :: here
    integer :: i
    allocate (list(100))
    list = 0
    here%number = 4
    !$omp target enter data map(to: list)
    !$omp target teams distribute parallel do
    do i = 1, 100
      list(i) = i
    end do
    call check(list(7) == 0, 51)
    !$omp target update from(list(7:8))
    call check(list(7) == 7 .and. list(9) == 0, 52)
    !$omp target exit data map(from: list)
    call check(sum(list) == 5050, 53)
    !$omp target map(tofrom: here%number)
    here%number = here%number + 1
    !$omp end target
    call check(here%number == 5, 54)
  end subroutine
end program
