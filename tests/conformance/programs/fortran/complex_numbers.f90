! covers: complex, logical, integer kinds and character data in maps
! host: equal
program complex_numbers
  implicit none
  complex(8) :: z(4), total
  integer(1) :: tiny_int
  integer(8) :: big
  logical :: flag
  character(len=8) :: word
  integer :: i
  z = (1.0d0, -2.0d0)
  total = 0
  tiny_int = 100
  big = 5000000000_8
  flag = .false.
  word = 'gangways'
  !$omp target map(tofrom: z, total, tiny_int, big, flag, word)
  do i = 1, 4
    z(i) = z(i) * cmplx(0.0d0, real(i, 8), 8)
    total = total + z(i)
  end do
  tiny_int = tiny_int + 20_1
  big = big * 2
  flag = .not. flag
  word(1:1) = 'G'
  !$omp end target
  print '(2f8.2)', total
  print '(8f6.1)', z
  print *, tiny_int, big, flag, ' ', word
end program complex_numbers
