! Fortran: arrays and their descriptors, and the routines in their Fortran forms.
program fortran
  use openacc
  implicit none
  integer, parameter :: n = 200
  real(8), allocatable :: a(:), b(:, :)
  real(8) :: total
  integer :: i, j
  character(len=64) :: vendor

  allocate (a(n), b(n, 3))
  a = [(real(i, 8), i = 1, n)]
  !$acc data copyin(a) copyout(b)
  !$acc parallel loop collapse(2)
  do j = 1, 3
    do i = 1, n
      b(i, j) = a(i) * j
    end do
  end do
  !$acc end data
  do j = 1, 3
    if (any(b(:, j) /= a * j)) stop 1
  end do

  total = 0
  !$acc parallel loop reduction(+:total) copyin(a)
  do i = 1, n
    total = total + a(i)
  end do
  if (total /= n * (n + 1) / 2) stop 2

  ! By descriptor, and by size in both lengths.
  call acc_copyin(a)
  if (.not. acc_is_present(a)) stop 3
  if (.not. acc_is_present(a, 8 * n)) stop 4
  if (.not. acc_is_present(a, int(8 * n, 8))) stop 5
  !$acc parallel loop present(a)
  do i = 1, n
    a(i) = a(i) + 1
  end do
  call acc_update_self(a(1:n / 2))
  if (a(1) /= 2 .or. a(n / 2) /= n / 2 + 1 .or. a(n) /= n) stop 6
  a(n) = -1
  call acc_update_device_async(a(n:n), 4)
  call acc_wait(4)
  call acc_copyout(a)
  if (a(n) /= -1 .or. a(n - 1) /= n) stop 7
  if (acc_is_present(a)) stop 8

  !$acc enter data create(b) async(1)
  !$acc parallel loop collapse(2) present(b) async(1)
  do j = 1, 3
    do i = 1, n
      b(i, j) = i + 1000 * j
    end do
  end do
  !$acc exit data copyout(b) async(1)
  call acc_wait_all()
  if (.not. acc_async_test(1)) stop 9
  if (b(5, 2) /= 2005 .or. b(n, 3) /= 3000 + n) stop 10

  if (acc_get_num_devices(acc_get_device_type()) < 1) stop 11
  vendor = '?'
  call acc_get_property_string(0, acc_get_device_type(), acc_property_vendor, vendor)
  if (acc_get_device_type() == acc_device_nvidia .and. vendor /= 'Nvidia') stop 12
  if (acc_get_device_type() == acc_device_host .and. vendor /= 'GNU') stop 13
  if (.not. acc_on_device(acc_device_host)) stop 14
  print '(a)', 'passed'
end program fortran
