! Collapsed nests: strides, negative steps, bounds that are not one, and
! loops without any iteration.
program collapse_program
  implicit none
  integer :: i, j, k, n, count
  integer :: a(-3:12, 0:9), b(6, 5, 4)
  a = 0
  !$omp target teams distribute parallel do collapse(2) map(tofrom: a)
  do j = 9, 0, -3
    do i = -3, 12, 2
      a(i, j) = 100 * i + j
    end do
  end do
  print *, sum(a), a(-3, 0), a(11, 9), a(-2, 9)

  !$omp target teams distribute parallel do collapse(3) map(from: b)
  do k = 1, 4
    do j = 1, 5
      do i = 1, 6
        b(i, j, k) = i + 10 * j + 100 * k
      end do
    end do
  end do
  print *, sum(b), b(6, 5, 4), b(1, 1, 1)

  n = 0; count = 0
  !$omp target parallel do collapse(2) map(tofrom: count) reduction(+: count)
  do j = 1, 5
    do i = 1, n
      count = count + 1
    end do
  end do
  print *, count

  !$omp target teams distribute parallel do map(tofrom: count) reduction(+: count)
  do i = 1, n
    count = count + 1
  end do
  print *, count

  !$omp target teams distribute collapse(2) map(tofrom: a)
  do j = 0, 9
    do i = -3, 12
      a(i, j) = a(i, j) + 1
    end do
  end do
  print *, sum(a)
end program
