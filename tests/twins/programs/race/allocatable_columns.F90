! Columns of an allocatable array from their neighbours: into another array, or in place.
! with: openmp gcc
program main
  implicit none
  integer, parameter :: n = 60
  real, allocatable :: a(:, :), b(:, :)
  integer :: i, j
  allocate(a(n, n), b(n, n))
  do j = 1, n
    do i = 1, n
      a(i, j) = i + j
    end do
  end do
  b = a
  !$omp target data map(tofrom: a, b)
  !$omp target teams distribute parallel do collapse(2)
  do j = 2, n
    do i = 1, n
#ifdef WRONG
      a(i, j) = 0.5 * (a(i, j - 1) + a(i, j)) ! finds
#else
      b(i, j) = 0.5 * (a(i, j - 1) + a(i, j))
#endif
    end do
  end do
  !$omp end target data
  print *, sum(b) > 0
end program
