! Output statements with values of every kind, and with every kind of edit descriptor: the host and the
! device print the same. A text without characters is a section, as flang maps 4 GiB for a variable of none.
program kinds
  use, intrinsic :: iso_fortran_env
  implicit none
  type :: point
    integer :: n
    real :: x(3)
    character(len=5) :: name
    complex(8) :: z
    logical(2) :: ok
  end type
  integer(1) :: i1
  integer(2) :: i2
  integer(4) :: i4
  integer(8) :: i8
  integer(16) :: i16
  real(4) :: r4
  real(8) :: r8
  complex(4) :: c4
  complex(8) :: c8
  logical(1) :: l1
  logical(2) :: l2
  logical(4) :: l4
  logical(8) :: l8
  character(len=20) :: text
  character(len=1) :: one
  character(len=600) :: long
  character(len=6) :: names(4)
  integer :: a(3, 4), i, j, status
  integer(1) :: a1(5)
  integer(2) :: a2(5)
  integer(8) :: a8(5)
  integer(16) :: a16(3)
  real(8) :: d(4, 3)
  real(4) :: s(4)
  complex(4) :: cc(2)
  complex(8) :: zz(2)
  logical(1) :: la1(3)
  logical(2) :: la2(3)
  logical(4) :: la4(3)
  logical(8) :: la8(3)
  type(point) :: p, ps(3)
  character(len=80) :: line
  i1 = -128_1; i2 = -32767_2; i4 = 2147483647; i8 = -9223372036854775807_8
  i16 = 170141183460469231731687303715884105727_16
  r4 = 3.1415927; r8 = -2.718281828459045d-200
  c4 = (1.0, -2.5); c8 = (1d300, -0d0)
  l1 = .true.; l2 = .false.; l4 = .true.; l8 = .true.
  text = ' it''s "a"  text '; one = 'x';
  do i = 1, 600
    long(i:i) = achar(33 + mod(i, 90))
  end do
  names = ['one   ', ' two  ', 'three ', '      ']
  a = reshape([(i * 11 - 60, i = 1, 12)], [3, 4])
  a1 = [1_1, -2_1, 3_1, -4_1, 127_1]; a2 = a1 * 200_2; a8 = a2 * 10000000000_8; a16 = i16 / [1, 3, 7]
  d = reshape([(i / 8d0 - 0.5d0, i = 1, 12)], [4, 3]); s = real(d(:, 1)) * 1e10
  cc = [c4, conjg(c4)]; zz = [c8, (0d0, 1d0)]
  la1 = [.true., .false., .true.]; la2 = la1; la4 = la1; la8 = la1
  p = point(7, [1.0, 2.0, 3.0], 'pname', (1d0, 2d0), .true.)
  ps = p; ps(2)%n = 8; ps(3)%name = 'last'
  line = ' '; status = -1
  !$omp target map(to: i1, i2, i4, i8, i16, r4, r8, c4, c8, l1, l2, l4, l8, text, one, long, names) &
  !$omp& map(to: a, a1, a2, a8, a16, d, s, cc, zz, la1, la2, la4, la8, p, ps) map(tofrom: line, status)
  print *, i1, i2, i4, i8
  print *, i16
  print *, r4, r8
  print *, c4, c8
  print *, l1, l2, l4, l8
  print *, text, one, text(1:0), '|'
  print *, text, i4
  print *, 'a', 'b', 1, 'c'
  print *, long
  print *, names
  print *, a
  print *, a(2, :), a(:, 3), a(1:3:2, 4:1:-1)
  print *, a1, a2
  print *, a8
  print *, a16
  print *, d
  print *, d(2:3, 2), s
  print *, cc, zz
  print *, la1, la2, la4, la8
  print *, p%n, p%x, p%name, p%z, p%ok
  print *, ps%n, ps%name
  print *, ps(2)%x(2:3), ps%x(1)
  print *, names(2:3), names(4)(1:2), names(1)(2:)
  print *, huge(1), tiny(1.0), epsilon(1d0)
  print *, 0.0, -0.0, 1e-10, 1e10, 123456789.0, 1d100
  write(*, '(i5,i3,i20)') i1, i2, i8
  write(*, '(5i4)') a
  write(*, '(3(i4,1x),/)') a(:, 1:2)
  write(*, '(a)') text
  write(*, '(a3,a30)') text, text
  write(*, '(t5,a,t20,a,tl3,a,tr4,a)') 'ab', 'cd', 'ef', 'gh'
  write(*, '(2x,a,5x,a)') 'x', 'y'
  write(*, '(es12.4,en14.3,e15.6,e12.3e4)') r4, r4, r8, r8
  write(*, '(g12.4,g0,1x,g0.5)') r4, r4, r4
  write(*, '(f8.3,f0.2,1x,f5.1)') r4, r4, 1e10
  write(*, '(d15.5,1pe12.3,0pf8.2)') r8, r4, r4
  write(*, '(b32.32,1x,b8,1x,o12,1x,z8.8,1x,z0)') 10, 5, 64, 255, 4095
  write(*, '(z8,1x,z16)') r4, r8
  write(*, '(l1,l5,l3)') l1, l2, l8
  write(*, '(2(f6.2,sp,f6.2,ss))') c4, c4
  write(*, '(i0,",",i0,":",a,a)') 5, -5, 'text', 'end'
  write(*, '(a,:,",",a)') 'one'
  write(*, '(*(i0,:,", "))') a
  write(*, '("it''s",1x,''quoted'')')
  write(*, '(3hbad,i3)') 3
  write(*, '(i5.3,i5.0,i5)') 7, 0, 0
  write(*, '(i2)') 12345
  write(*, '(bn,i5,ru,f6.1,rd,f6.1,rn,f6.1)') 5, 1.25, 1.25, 1.25
  write(*, '(dc,f6.2,dp,f6.2)') 1.5, 1.5
  write(*, '(a)', advance='no') 'no advance '
  write(*, '(i3)', advance='no') 5
  write(*, '(a)') ' end'
  write(*, '(a,/,a,//,a)') 'first', 'second', 'fourth'
  write(*, '(a)') names
  write(*, *) 
  write(*, '()')
  write(*, '(g0)') i1, i8, r8, l4, text, c8
  write(*, '(2(2(i3),"|"))') [1, 2, 3, 4, 5]
  write(*, '(3(i5,f6.2,a))') (a(j, 1), real(a(j, 2)), 'z', j = 1, 3)
  write(*, *) (i, (j, j = 1, 2), i = 1, 3)
  write(*, '(e10.3,es10.3,f10.3,g10.3)') huge(1.0), tiny(1.0), 0.0, -1.0
  write(*, '(a4)', iostat=status) 'status'
  write(line, '(i5,f8.2,a)') 5, 2.5, 'abc'
  print *, line(1:20), len_trim(line)
  write(line, *) 1, 2.0, .true.
  print *, line
  write(*, *, delim='quote') text, one
  write(*, *, delim='apostrophe') text, one
  write(*, *, decimal='comma') 1.5, c4, 2
  write(output_unit, *) 'unit'
  print '(a,i5)', 'print format', 5
  print '(1x,a)', 'label'
  write(*, 100) 5, 'labelled'
100 format (1x, i5, 1x, a)
  !$omp end target
  print *, 'host:', status, trim(line)
end program
