! covers: a derived type with more allocatable components than a launch has inline slots
program many_components
  implicit none
  type :: fields
    real, allocatable :: a0(:), a1(:), a2(:), a3(:), a4(:), a5(:), a6(:), a7(:), a8(:), a9(:)
    real, allocatable :: b0(:), b1(:), b2(:), b3(:), b4(:), b5(:), b6(:), b7(:), b8(:), b9(:)
    integer :: steps = 0
  end type
  type(fields) :: f
  integer :: first(64), round
  allocate(f%a0(8), f%a1(8), f%a2(8), f%a3(8), f%a4(8), f%a5(8), f%a6(8), f%a7(8), f%a8(8), f%a9(8), source=1.0)
  allocate(f%b0(8), f%b1(8), f%b2(8), f%b3(8), f%b4(8), f%b5(8), f%b6(8), f%b7(8), f%b8(8), f%b9(8), source=2.0)
  first = 0
  do round = 1, 2
    !$omp target map(tofrom: f%a0, f%a1, f%a2, f%a3, f%a4, f%a5, f%a6, f%a7, f%a8, f%a9) &
    !$omp   map(tofrom: f%b0, f%b1, f%b2, f%b3, f%b4, f%b5, f%b6, f%b7, f%b8, f%b9, f%steps)
    f%a0(1) = f%a0(1) + 1
    f%a9(8) = f%a9(8) + f%b9(8)
    f%b5(2:3) = f%a5(2:3) + 5
    f%steps = f%steps + 1
    !$omp end target
    print '(5f6.1,i3)', f%a0(1), f%a9(8), f%b5(2), f%b5(3), f%b5(4), f%steps
    !$omp target map(tofrom: first)
    first(1) = first(1) + 1
    !$omp end target
  end do
  print *, first(1)
end program
