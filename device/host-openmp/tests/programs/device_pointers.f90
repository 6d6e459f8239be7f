! use_device_addr, has_device_addr, is_device_ptr and memory from
! omp_target_alloc.
program device_pointers
  use omp_lib
  use iso_c_binding
  implicit none
  integer, parameter :: n = 256
  integer(c_int), target :: a(n)
  integer :: i, device
  type(c_ptr) :: raw
  a = 1
  !$omp target data map(tofrom: a) use_device_addr(a)
  !$omp target has_device_addr(a)
  do i = 1, n
    a(i) = a(i) + i
  end do
  !$omp end target
  !$omp end target data
  print *, sum(a)
  device = omp_get_default_device()
  raw = omp_target_alloc(int(n * 4, c_size_t), device)
  if (.not. c_associated(raw)) stop 1
  call fill(raw)
  i = omp_target_memcpy(c_loc(a), raw, int(n * 4, c_size_t), 0_c_size_t, 0_c_size_t, &
                        omp_get_initial_device(), device)
  call omp_target_free(raw, device)
  print *, i, sum(a), a(n)
contains
  subroutine fill(p)
    type(c_ptr), intent(in) :: p
    !$omp target is_device_ptr(p)
    block
      integer(c_int), pointer :: f(:)
      integer :: k
      call c_f_pointer(p, f, [n])
      do k = 1, n
        f(k) = 3 * k
      end do
    end block
    !$omp end target
  end subroutine
end program
