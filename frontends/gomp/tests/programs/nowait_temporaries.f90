! Regions that nobody waits for, and arrays that gfortran maps through temporaries of the calling
! function, or that a pointer of the program's leads to: the next construct uses the same temporary or
! pointer while the first region is under way.
module fills
  implicit none
contains
  subroutine explicit_shape(w, n, value)
    integer :: n, value, w(n), y
    !$omp target teams distribute map(tofrom: w(1:n)) nowait
    do y = 1, n
      w(y) = value
    end do
  end subroutine

  subroutine assumed_shape(w, value)
    integer :: value, w(:), y
    !$omp target teams distribute map(tofrom: w) nowait
    do y = 1, size(w)
      w(y) = value
    end do
  end subroutine
end module

program main
  use fills
  implicit none
  integer, parameter :: n = 4096, rows = 512, columns = 16
  integer :: a(n), b(n), c(n), k(1), x, y
  integer(8) :: w(rows, columns)
  integer(8), target :: parts(rows, columns), scalars(columns)
  integer(8), pointer :: part(:), element

  a = 0; b = 0; c = 0
  !$omp target data map(tofrom: a, b, c)
  call explicit_shape(a, n, 1); call explicit_shape(b, n, 2); call explicit_shape(c, n, 3)
  !$omp taskwait
  !$omp end target data
  if (any(a /= 1) .or. any(b /= 2) .or. any(c /= 3)) stop 1

  a = 0; b = 0; c = 0
  !$omp target data map(tofrom: a, b, c)
  call assumed_shape(a(1:n:1), 4); call assumed_shape(b(2:n), 5); call assumed_shape(c(3:), 6)
  !$omp taskwait
  !$omp end target data
  if (any(a /= 4) .or. any(b(2:) /= 5) .or. b(1) /= 0 .or. any(c(3:) /= 6) .or. c(2) /= 0) stop 2

  k = 0
  !$omp target enter data map(to: k)
  do x = 1, columns
    !$omp target teams distribute map(alloc: w(1:rows, x), k(1:1)) nowait
    do y = 1, rows
      w(y, x) = x
      !$omp atomic update
      k(1) = k(1) + 1
    end do
  end do
  !$omp taskwait
  !$omp target exit data map(from: k)
  if (k(1) /= rows * columns) stop 3

  k = 0
  !$omp target data map(tofrom: k)
  !$omp parallel num_threads(2)
  !$omp single
  do x = 1, columns
    !$omp target teams distribute map(alloc: w(1:rows, x), k(1:1)) depend(in: x) nowait
    do y = 1, rows
      w(y, x) = x
      !$omp atomic update
      k(1) = k(1) + 1
    end do
  end do
  !$omp end single
  !$omp end parallel
  !$omp end target data
  if (k(1) /= rows * columns) stop 4

  ! Variables of the main program are static ones.
  parts = 0; scalars = 0
  !$omp parallel num_threads(4)
  !$omp single
  do x = 0, 20 * columns - 1
    part => parts(:, mod(x, columns) + 1)
    !$omp target nowait map(tofrom: part) depend(inout: part) firstprivate(x)
    part = part + x
    !$omp end target
    element => scalars(mod(x, columns) + 1)
    !$omp target nowait map(tofrom: element) depend(inout: element) firstprivate(x)
    element = element + x
    !$omp end target
  end do
  !$omp end single
  !$omp end parallel
  do x = 1, columns
    y = 20 * (x - 1) + columns * 190
    if (any(parts(:, x) /= y) .or. scalars(x) /= y) stop 5
  end do
  print '(a)', 'passed'
end program
