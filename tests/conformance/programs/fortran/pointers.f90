! covers: pointer arrays, pointer sections with strides copied by the program, targets, null pointers
! host: equal
program pointers
  implicit none
  integer, target :: data(20)
  integer, pointer :: p(:), q(:)
  integer :: i
  do i = 1, 20
    data(i) = i
  end do
  p => data
  q => data(6:10)
  !$omp target map(tofrom: p)
  do i = 1, 20
    p(i) = p(i) + 100
  end do
  !$omp end target
  print '(20i5)', data
  !$omp target map(tofrom: q)
  do i = 1, 5
    q(i) = -q(i)
  end do
  !$omp end target
  print '(20i5)', data
  nullify (p)
  print *, associated(p), associated(q)
end program pointers
