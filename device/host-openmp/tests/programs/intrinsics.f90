! Array intrinsics and character handling in device code: calls of the
! Fortran runtime from inside an image.
program intrinsics
  implicit none
  integer, parameter :: n = 24
  real(8) :: a(n, n), b(n, n), c(n, n), v(n), w(n), s, largest, inner
  integer :: i, where_max(1), pos, length, k, order(n)
  logical :: every, some
  character(20) :: text
  do i = 1, n
    a(:, i) = i
    b(i, :) = 2
    v(i) = mod(i * 7, n)
  end do
  text = 'offload'
  !$omp target map(to: a, b, v, text) map(from: c, s, largest, inner, where_max, pos, length, every, some, w, order)
  c = matmul(a, b)
  s = sum(a)
  largest = maxval(v)
  where_max = maxloc(v)
  inner = dot_product(v, v)
  every = all(b > 1)
  some = any(a > 1000)
  w = cshift(v, 3)
  pos = index(text, 'load')
  length = len_trim(text)
  do k = 1, n
    order(k) = count(v < v(k))
  end do
  !$omp end target
  print *, sum(c), s, largest, where_max, inner
  print *, every, some, w(1), w(n), pos, length, sum(order)

  !$omp target teams distribute parallel do map(from: w) map(to: v)
  do i = 1, n
    w(i) = anint(1000 * (sin(v(i)) ** 2 + cos(v(i)) ** 2)) + sqrt(v(i) * v(i)) + abs(-v(i)) + mod(v(i), 2d0)
  end do
  print *, sum(w)

  !$omp target map(tofrom: c) map(to: a)
  c = transpose(a)
  c(:, 1) = reshape(a(1:4, 1:6), [24])
  !$omp end target
  print *, sum(c), c(1, 1), c(24, 1), c(1, 2)
end program
