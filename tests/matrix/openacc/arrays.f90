! Allocatable arrays, sections, reductions and routines of modules in OpenACC's constructs.
module device_part
  implicit none
contains
  pure integer function doubled(value)
    !$acc routine seq
    integer, intent(in) :: value
    doubled = 2 * value
  end function
end module

program arrays
  use openacc
  use device_part
  implicit none
  integer, parameter :: n = 5000
  integer, allocatable :: a(:), b(:, :)
  integer :: i, j, total, wrong
  wrong = 0
  allocate(a(n), b(50, 100))
  a = [(i, i = 1, n)]
  total = 0
  !$acc parallel loop copy(a) reduction(+: total)
  do i = 1, n
    a(i) = doubled(a(i))
    total = total + mod(a(i), 10)
  end do
  wrong = wrong + count(a /= [(2 * i, i = 1, n)])
  if (total /= sum(mod(a, 10))) wrong = wrong + 1

  b = 0
  !$acc data copy(b)
  !$acc parallel loop collapse(2) present(b)
  do j = 11, 90
    do i = 1, 50
      b(i, j) = 100 * i + j
    end do
  end do
  !$acc update self(b(:, 11:20))
  if (b(50, 20) /= 5020) wrong = wrong + 1
  !$acc end data
  do j = 1, 100
    do i = 1, 50
      if (b(i, j) /= merge(100 * i + j, 0, j >= 11 .and. j <= 90)) wrong = wrong + 1
    end do
  end do

  !$acc enter data copyin(a) async(1)
  !$acc parallel loop present(a) async(1)
  do i = 1, n
    a(i) = a(i) + 1
  end do
  !$acc wait(1)
  !$acc exit data copyout(a)
  wrong = wrong + count(a /= [(2 * i + 1, i = 1, n)])

  print '(a, i0, a)', 'arrays in Fortran: ', wrong, ' wrong'
  if (wrong /= 0) stop 1
end program
