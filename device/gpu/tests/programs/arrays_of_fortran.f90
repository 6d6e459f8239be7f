! Whole arrays, allocatable variables, pointers and texts, for which flang calls its run-time library.
program arrays_of_fortran
  implicit none
  type box
    integer :: i
    integer, allocatable :: x(:)
  end type
  integer, allocatable :: a(:), b(:)
  integer, target :: q(8)
  integer, pointer :: p(:)
  real(8) :: m(5, 4), r(4, 5), sums(5), s(3, 5), d(5)
  integer :: k, n, boxed(4), got(4), grid(6, 6), state, total, packed(20), place(2)
  logical :: same
  character(8) :: word, left, right

  allocate(a(8), b(8)); a = 1; b = 5
  !$omp target map(tofrom: a) map(to: b)
  a = a + b
  !$omp end target
  call check('assignment', all(a == 6))

  p => q; same = .false.
  !$omp target map(tofrom: p, q, same)
  same = associated(p, q)
  !$omp end target
  call check('associated', same)

  boxed = 0
  !$omp target map(tofrom: boxed)
  block
    type(box) :: one, other
    allocate(other%x(3))
    other%x = 7
    other%i = 2
    one = other
    other%x = 0
    boxed(1) = one%i
    boxed(2:4) = one%x
  end block
  !$omp end target
  call check('components', all(boxed == [2, 7, 7, 7]))

  m = reshape([(real(k, 8), k = 1, 20)], [5, 4]); d = [(real(k, 8), k = 1, 5)]; n = 2
  !$omp target map(to: m, d, n) map(from: r, sums, s)
  r = reshape(m, [4, 5], order=[2, 1])
  sums = sum(m, n)
  s = spread(cshift(d, n, 1), 1, 3)
  !$omp end target
  call check('reshape', all(r == reshape(m, [4, 5], order=[2, 1])))
  call check('sum', all(sums == sum(m, 2)))
  call check('spread', all(s == spread(cshift(d, 2, 1), 1, 3)))

  packed = 0; total = 0
  !$omp target map(to: m) map(tofrom: packed, total, place)
  total = count(m > 7d0)
  packed(1:total) = pack(int(m), m > 7d0)
  place = findloc(int(m), 14)
  !$omp end target
  call check('pack', total == 13 .and. all(packed(1:13) == [(k, k = 8, 20)]))
  call check('findloc', all(place == [4, 3]))

  grid = 2; total = 0
  !$omp target map(to: grid) map(from: total)
  total = plain_sum(grid(1, :), 6)
  !$omp end target
  call check('a section as an argument', total == 12)

  got = 0; state = -1
  !$omp target map(tofrom: got, state)
  block
    integer, pointer :: one(:)
    integer, allocatable :: other(:)
    allocate(one(4))
    one = [4, 3, 2, 1]
    allocate(other(2), stat=state)
    other = one
    got = other
    deallocate(one)
  end block
  !$omp end target
  call check('allocate', state == 0 .and. all(got == [4, 3, 2, 1]))

  word = '  abc'; n = 0
  !$omp target map(to: word) map(from: left, right, n)
  left = adjustl(word)
  right = trim(word) // 'z'
  n = index(word, 'b') + 10 * len_trim(word)
  !$omp end target
  call check('texts', left == 'abc' .and. right == '  abcz' .and. n == 54)
  print '(a)', 'passed'

contains
  integer function plain_sum(x, n)
    !$omp declare target
    integer, intent(in) :: n, x(n)
    plain_sum = sum(x)
  end function

  subroutine check(what, is_right)
    character(*), intent(in) :: what
    logical, intent(in) :: is_right
    if (.not. is_right) then
      print '(2a)', what, ' is wrong'
      stop 1
    end if
  end subroutine
end program
