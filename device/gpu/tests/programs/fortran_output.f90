! Output statements of device code: the host and the device run the same region and print the same.
! The first argument says how the region ends.
module logging
contains
  subroutine log(k, x, failed, reason)
    !$omp declare target
    integer, intent(in) :: k
    real, intent(in) :: x
    integer, intent(out) :: failed
    character(len=*), intent(inout) :: reason
    character(len=4) :: small
    character(len=700) :: large
    integer :: i
    write(*, '(a,i5,f8.3)', iostat=failed, iomsg=reason) 'log', k, x
    write(large, *) (i, i = 1, 90)
    print *, large(690:), len_trim(large)
    write(small, '(i4.4)') k
    write(*, '(a)', advance='no') small
    write(*, '(3i4)') [k, k + 1, k + 2]
    write(small, '(a5)', iostat=failed, iomsg=reason) 'abcde'
  end subroutine
end module

program main
  use logging
  implicit none
  integer :: k, failed, threads(1000), i
  integer(1) :: i1
  integer(2) :: i2
  integer(8) :: i8
  real(8) :: d(2, 3), tall(50, 4)
  complex :: c
  complex(8) :: z
  logical :: l(3)
  logical(1) :: l1
  character(len=8) :: names(2), text, how
  character(len=60) :: reason
  call get_command_argument(1, how)
  k = 0
  if (how == 'stop') k = 1
  if (how == 'error') k = 2
  if (how == 'text') k = 3
  if (how == 'wrong') k = 4
  d = reshape([1d0, 2d0, 3d0, 4d0, 5d0, 6d0], [2, 3])
  tall = reshape([(i / 4d0, i = 1, 200)], [50, 4])
  names = ['abc', 'def']
  text = 'text'
  c = (1.5, -2.5)
  z = (1d0, 2d0)
  i1 = -1
  i2 = 2
  i8 = 12345678901_8
  l = [.true., .false., .true.]
  l1 = .true.
  reason = 'none'
  !$omp target map(to: k, d, names, z, c, i1, i2, i8, l, l1, text, tall) map(tofrom: reason) map(from: failed)
  print *, 'list', k, 2.5, 2.5d0, c, z, i1, i2, i8, l1, text//'!'
  print *, d(2, :), names, l, d
  write(6, '(2(f6.2,1x))') d
  write(*, '(6f12.3)') tall
  write(*, '(sp,i4,a)', decimal='comma', sign='plus') 7, ' signed'
  print *
  call log(41, 2.0, failed, reason)
  write(7, *) 'unit', k
  flush(7)
  if (k == 1) stop 3
  if (k == 2) error stop 4
  if (k == 3) stop 'a text'
  if (k == 4) write(6, '(i5)') 'not a number'
  !$omp end target
  print *, failed > 0, reason

  threads = 0
  !$omp target teams distribute parallel do map(tofrom: threads)
  do i = 1, size(threads)
    write(*, '(a,i6,a,i6)') 'thread', i, ' has', 2 * i
    threads(i) = i
  end do
  print *, sum(threads)
end program
