! Allocatables and pointers: mapped whole, by section, through data regions,
! with bounds that are not one, and allocated inside the region.
program allocatables
  implicit none
  real(8), allocatable :: a(:), m(:, :)
  real(8), pointer :: p(:)
  real(8), target :: storage(100)
  integer :: i, j, n
  logical :: ok
  n = 64
  allocate(a(-5:n), m(n, n))
  a = 1
  !$omp target teams distribute parallel do map(tofrom: a)
  do i = lbound(a, 1), ubound(a, 1)
    a(i) = a(i) + i
  end do
  print *, sum(a), a(-5), a(n), lbound(a), ubound(a)

  !$omp target enter data map(alloc: m)
  !$omp target teams distribute parallel do collapse(2)
  do j = 1, n
    do i = 1, n
      m(i, j) = i * 1000 + j
    end do
  end do
  !$omp target exit data map(from: m)
  print *, sum(m), m(1, n), m(n, 1)

  storage = 2
  p => storage(1:100:1)
  !$omp target parallel do map(tofrom: p)
  do i = 1, size(p)
    p(i) = p(i) * i
  end do
  print *, sum(storage)

  a = 0
  !$omp target map(tofrom: a(1:10))
  do i = 1, 10
    a(i) = i
  end do
  !$omp end target
  print *, sum(a), a(10), a(11)

  ok = .false.
  !$omp target map(tofrom: ok) map(to: n)
  block
    real(8), allocatable :: w(:)
    integer :: k
    allocate(w(n))
    do k = 1, n
      w(k) = k
    end do
    ok = allocated(w) .and. sum(w) == n * (n + 1) / 2
    deallocate(w)
  end block
  !$omp end target
  print *, ok
end program
