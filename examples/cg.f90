! Conjugate gradients on a sparse grid: the five-point Laplace operator on a
! square, kept in compressed rows, with the matrix and all vectors resident on
! the device. Every step is one sparse product, two dot products and three
! vector updates, each a kernel of its own.
!
! The right-hand side is made from a known solution, so the check needs no
! second solver: the answer must be that solution. A host run of the same
! solver must take as many steps.
module conjugate_gradients
  use, intrinsic :: iso_fortran_env, only: real64, int32
  implicit none
  private
  public :: sparse_matrix, laplace, multiply_on_host, solve

  !> Compressed rows: the entries of row i are columns(first(i):first(i+1)-1).
  type :: sparse_matrix
    integer(int32) :: rows
    integer(int32), allocatable :: first(:), columns(:)
    real(real64), allocatable :: entries(:)
  end type sparse_matrix

contains

  !> The operator that takes from four times a cell its neighbours.
  function laplace(side) result(matrix)
    integer(int32), intent(in) :: side
    type(sparse_matrix) :: matrix
    integer(int32) :: x, y, row, next
    matrix%rows = side * side
    allocate (matrix%first(matrix%rows + 1))
    allocate (matrix%columns(5 * matrix%rows), matrix%entries(5 * matrix%rows))
    next = 1
    do y = 1, side
      do x = 1, side
        row = (y - 1) * side + x
        matrix%first(row) = next
        if (y > 1) call add(row - side, -1.0_real64)
        if (x > 1) call add(row - 1, -1.0_real64)
        call add(row, 4.0_real64)
        if (x < side) call add(row + 1, -1.0_real64)
        if (y < side) call add(row + side, -1.0_real64)
      end do
    end do
    matrix%first(matrix%rows + 1) = next

  contains

    subroutine add(column, entry)
      integer(int32), intent(in) :: column
      real(real64), intent(in) :: entry
      matrix%columns(next) = column
      matrix%entries(next) = entry
      next = next + 1
    end subroutine add

  end function laplace

  subroutine multiply_on_host(matrix, x, y)
    type(sparse_matrix), intent(in) :: matrix
    real(real64), intent(in) :: x(:)
    real(real64), intent(out) :: y(:)
    integer(int32) :: row, k
    do row = 1, matrix%rows
      y(row) = 0.0_real64
      do k = matrix%first(row), matrix%first(row + 1) - 1
        y(row) = y(row) + matrix%entries(k) * x(matrix%columns(k))
      end do
    end do
  end subroutine multiply_on_host

  !> Solves matrix * x = b from x = 0 and answers how many steps it took.
  !> `offload` selects the device or the host, by the same code.
  function solve(matrix, b, x, tolerance, offload) result(steps)
    type(sparse_matrix), intent(in) :: matrix
    real(real64), intent(in) :: b(:), tolerance
    real(real64), intent(out) :: x(:)
    logical, intent(in) :: offload
    integer(int32) :: steps
    call iterate(matrix%rows, size(matrix%columns), matrix%first, matrix%columns, &
                 matrix%entries, b, x, tolerance, offload, steps)
  end function solve

  !> The same on explicit-shape arrays: what is mapped is then plain memory.
  subroutine iterate(n, m, first, columns, entries, b, x, tolerance, offload, steps)
    integer(int32), intent(in) :: n, m
    integer(int32), intent(in) :: first(n + 1), columns(m)
    real(real64), intent(in) :: entries(m), b(n), tolerance
    real(real64), intent(out) :: x(n)
    logical, intent(in) :: offload
    integer(int32), intent(out) :: steps
    real(real64), allocatable :: r(:), p(:), q(:)
    real(real64) :: rr, rr_before, pq, alpha, beta, sum
    integer(int32) :: i, k

    allocate (r(n), p(n), q(n))
    x = 0.0_real64
    r = b
    p = b
    rr = dot_product(b, b)
    steps = 0

    !$omp target data map(to: first, columns, entries) map(to: p, r) map(alloc: q) &
    !$omp   map(tofrom: x) if(offload)
    do while (sqrt(rr) > tolerance .and. steps < 10 * n)
      pq = 0.0_real64
      !$omp target teams distribute parallel do private(sum, k) reduction(+: pq) &
      !$omp   map(tofrom: pq) if(target: offload)
      do i = 1, n
        sum = 0.0_real64
        do k = first(i), first(i + 1) - 1
          sum = sum + entries(k) * p(columns(k))
        end do
        q(i) = sum
        pq = pq + p(i) * sum
      end do

      alpha = rr / pq
      rr_before = rr
      rr = 0.0_real64
      !$omp target teams distribute parallel do reduction(+: rr) map(tofrom: rr) &
      !$omp   if(target: offload)
      do i = 1, n
        x(i) = x(i) + alpha * p(i)
        r(i) = r(i) - alpha * q(i)
        rr = rr + r(i) * r(i)
      end do

      beta = rr / rr_before
      !$omp target teams distribute parallel do if(target: offload)
      do i = 1, n
        p(i) = r(i) + beta * p(i)
      end do
      steps = steps + 1
    end do
    !$omp end target data
  end subroutine iterate

end module conjugate_gradients

program cg
  use, intrinsic :: iso_fortran_env, only: real64, int32
  use conjugate_gradients
  implicit none
  integer(int32), parameter :: side = 96
  real(real64), parameter :: tolerance = 1.0e-9_real64
  type(sparse_matrix) :: matrix
  real(real64), allocatable :: known(:), b(:), x(:), reference(:)
  integer(int32) :: i, steps, steps_on_host
  real(real64) :: error, difference
  logical :: good

  matrix = laplace(side)
  allocate (known(matrix%rows), b(matrix%rows), x(matrix%rows), reference(matrix%rows))
  do i = 1, matrix%rows
    known(i) = sin(0.37_real64 * i) + 0.001_real64 * mod(i, side)
  end do
  call multiply_on_host(matrix, known, b)

  steps = solve(matrix, b, x, tolerance, offload=.true.)
  steps_on_host = solve(matrix, b, reference, tolerance, offload=.false.)

  error = maxval(abs(x - known))
  difference = maxval(abs(x - reference))
  print '(a,i0,a,i0)', 'steps on the device ', steps, ', on the host ', steps_on_host
  print '(a,es9.2)', 'largest error             ', error
  print '(a,es9.2)', 'difference from the host  ', difference
  ! Sums may be taken in another order, which may cost a step.
  good = error < 1.0e-7_real64 .and. difference < 1.0e-7_real64 &
         .and. abs(steps - steps_on_host) <= 2 .and. steps > 10
  if (.not. good) then
    print '(a)', 'cg: FAILED'
    error stop 1
  end if
  print '(a)', 'cg: OK'
end program cg
