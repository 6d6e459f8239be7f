! What Fortran's descriptors cost: ten allocatable arrays that come and go with a region of data.
! Prints the time of one.
program descriptors
  use iso_fortran_env, only: int64, real64
  implicit none
  integer, parameter :: count = 200, batches = 100, length = 16
  real(real64), allocatable :: a(:), b(:), c(:), d(:, :), e(:), f(:), g(:), h(:), o(:, :), p(:)
  real(real64) :: best, time
  integer(int64) :: start, finish, rate
  integer :: batch, i
  allocate (a(length), b(length), c(length), d(4, 4), e(length), f(length), g(length), h(length), o(4, 4), p(length))
  a = 1; b = 1; c = 1; d = 1; e = 1; f = 1; g = 1; h = 1; o = 1; p = 1
  best = huge(best)
  do batch = 1, batches
    call system_clock(start, rate)
    do i = 1, count
      !$omp target data map(to: a, b, c, d, e, f, g, h, o, p)
      !$omp end target data
    end do
    call system_clock(finish)
    time = real(finish - start, real64) / real(rate, real64) * 1e9_real64 / count
    best = min(best, time)
  end do
  print '(a, f0.3)', 'best_ns ', best
end program
