! covers: derived types: whole, components, nested, arrays of them
! host: equal
program derived_types
  implicit none
  type inner
    integer :: k
    real :: w(3)
  end type inner
  type outer
    integer :: id
    type(inner) :: part
    real(8) :: total
  end type outer
  type(outer) :: o, list(4)
  integer :: i
  o = outer(1, inner(2, [1.0, 2.0, 3.0]), 0.5d0)
  !$omp target map(tofrom: o)
  o%total = o%total + sum(o%part%w) + o%part%k
  o%id = o%id + 10
  !$omp end target
  print '(i4, f8.2)', o%id, o%total
  !$omp target map(tofrom: o%id, o%part%w)
  o%id = o%id * 2
  o%part%w(2) = o%id
  !$omp end target
  print '(i4, 3f8.2)', o%id, o%part%w
  do i = 1, 4
    list(i) = o
    list(i)%id = i
  end do
  !$omp target map(tofrom: list)
  do i = 1, 4
    list(i)%total = list(i)%id * 1.5d0
    list(i)%part%k = -i
  end do
  !$omp end target
  print '(4f8.2, 4i4)', list%total, list%part%k
end program derived_types
