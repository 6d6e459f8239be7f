! Conjugate gradients with OpenACC: the five-point Laplace operator on a square,
! in compressed rows, with the matrix and all vectors resident on the device.
!
! A step is one sparse product, two dot products and three vector updates. The
! vectors are components of a derived type, whose descriptors are attached on the
! device. The right-hand side is made from a known solution, which must come out.
!
!   gfortran -O2 -fopenacc -foffload=nvptx-none -foffload=-lgfortran cg_acc.f90 -o cg_acc
!   gangway run --device vgpu --report -- ./cg_acc [side]
program conjugate_gradients
  use, intrinsic :: iso_fortran_env, only: real64, int32
  implicit none

  type :: sparse_matrix
    integer(int32) :: rows
    integer(int32), allocatable :: first(:), columns(:)
    real(real64), allocatable :: entries(:)
  end type sparse_matrix

  type(sparse_matrix) :: matrix
  real(real64), allocatable :: x(:), known(:), right(:), residual(:), direction(:), product(:)
  real(real64) :: old, new, alpha, worst
  integer(int32) :: side, row, steps
  character(len=16) :: argument

  side = 32
  if (command_argument_count() > 0) then
    call get_command_argument(1, argument)
    read (argument, *) side
  end if
  call laplace(matrix, side)
  allocate (x(matrix%rows), known(matrix%rows), right(matrix%rows))
  allocate (residual(matrix%rows), direction(matrix%rows), product(matrix%rows))
  known = [(1 + mod(row * 7, 13) / 13.0_real64, row = 1, matrix%rows)]

  !$acc enter data copyin(matrix)
  !$acc enter data copyin(matrix%first, matrix%columns, matrix%entries)
  !$acc data create(residual, direction, product) copyin(known) copyout(x, right)
  call multiply(matrix, known, right)
  !$acc parallel loop present(x, right, residual, direction)
  do row = 1, matrix%rows
    x(row) = 0
    residual(row) = right(row)
    direction(row) = right(row)
  end do
  old = dot(residual, residual)
  do steps = 1, 10 * side
    call multiply(matrix, direction, product)
    alpha = old / dot(direction, product)
    !$acc parallel loop present(x, residual, direction, product)
    do row = 1, matrix%rows
      x(row) = x(row) + alpha * direction(row)
      residual(row) = residual(row) - alpha * product(row)
    end do
    new = dot(residual, residual)
    if (new < 1e-22_real64) exit
    !$acc parallel loop present(residual, direction)
    do row = 1, matrix%rows
      direction(row) = residual(row) + new / old * direction(row)
    end do
    old = new
  end do
  !$acc end data
  !$acc exit data delete(matrix%first, matrix%columns, matrix%entries)
  !$acc exit data delete(matrix)

  worst = maxval(abs(x - known))
  print '(a, i0, a, i0, a, es8.1)', 'grid of side ', side, ': ', steps, ' steps, largest error ', worst
  if (worst > 1e-8_real64) then
    print '(a)', 'FAILED'
    error stop
  end if
  print '(a)', 'passed'

contains

  subroutine laplace(matrix, side)
    type(sparse_matrix), intent(out) :: matrix
    integer(int32), intent(in) :: side
    integer(int32) :: x, y, row, next
    matrix%rows = side * side
    allocate (matrix%first(matrix%rows + 1))
    allocate (matrix%columns(5 * matrix%rows), matrix%entries(5 * matrix%rows))
    next = 1
    do y = 1, side
      do x = 1, side
        row = (y - 1) * side + x
        matrix%first(row) = next
        if (y > 1) call add(matrix, next, row - side, -1.0_real64)
        if (x > 1) call add(matrix, next, row - 1, -1.0_real64)
        call add(matrix, next, row, 4.0_real64)
        if (x < side) call add(matrix, next, row + 1, -1.0_real64)
        if (y < side) call add(matrix, next, row + side, -1.0_real64)
      end do
    end do
    matrix%first(matrix%rows + 1) = next
  end subroutine laplace

  subroutine add(matrix, next, column, entry)
    type(sparse_matrix), intent(inout) :: matrix
    integer(int32), intent(inout) :: next
    integer(int32), intent(in) :: column
    real(real64), intent(in) :: entry
    matrix%columns(next) = column
    matrix%entries(next) = entry
    next = next + 1
  end subroutine add

  subroutine multiply(matrix, in, out)
    type(sparse_matrix), intent(in) :: matrix
    real(real64), intent(in) :: in(:)
    real(real64), intent(inout) :: out(:)
    real(real64) :: sum
    integer(int32) :: row, entry
    !$acc parallel loop gang vector present(matrix, in, out) private(sum)
    do row = 1, matrix%rows
      sum = 0
      do entry = matrix%first(row), matrix%first(row + 1) - 1
        sum = sum + matrix%entries(entry) * in(matrix%columns(entry))
      end do
      out(row) = sum
    end do
  end subroutine multiply

  real(real64) function dot(left, right)
    real(real64), intent(in) :: left(:), right(:)
    integer(int32) :: row
    dot = 0
    !$acc parallel loop reduction(+:dot) present(left, right)
    do row = 1, size(left)
      dot = dot + left(row) * right(row)
    end do
  end function dot
end program conjugate_gradients
