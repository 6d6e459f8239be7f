! target data, enter and exit data, update, if clauses, nested maps.
program data_regions
  implicit none
  integer, parameter :: n = 512
  integer :: i, a(n), b(n), c(n), step
  logical :: offload
  a = [(i, i = 1, n)]
  b = 0
  !$omp target data map(to: a) map(from: b) map(alloc: c)
  !$omp target teams distribute parallel do
  do i = 1, n
    c(i) = 2 * a(i)
  end do
  do step = 1, 5
    !$omp target teams distribute parallel do
    do i = 1, n
      c(i) = c(i) + step
    end do
  end do
  !$omp target teams distribute parallel do
  do i = 1, n
    b(i) = c(i)
  end do
  !$omp end target data
  print *, sum(b), b(1), b(n)

  a = 1
  !$omp target enter data map(to: a)
  !$omp target
  a(1) = 10
  a(n) = 20
  !$omp end target
  !$omp target update from(a(1:1))
  a(2) = 100
  !$omp target update to(a(2:2))
  !$omp target
  a(3) = a(2) + 1
  !$omp end target
  !$omp target exit data map(from: a)
  print *, a(1), a(2), a(3), a(n), sum(a)

  do step = 0, 1
    offload = step == 1
    !$omp target teams distribute parallel do if(target: offload) map(tofrom: a)
    do i = 1, n
      a(i) = a(i) + 1
    end do
  end do
  print *, sum(a)
end program
