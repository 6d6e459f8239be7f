! Allocatable components without elements, beside others, in data directives of all kinds. libgomp
! of GCC 12 ends the program: it wants what they point to on the device.
program empty_components
  implicit none
  type list
    real, allocatable :: none(:), some(:)
    integer :: n
  end type list
  type(list) :: x
  logical :: here
  integer :: elements

  allocate (x%none(0), x%some(4))
  x%n = 3
  x%some = [1, 2, 3, 4]

  !$acc enter data copyin(x)
  !$acc enter data copyin(x%none, x%some)
  !$acc parallel present(x) copyout(here, elements)
  here = allocated(x%none)
  elements = size(x%none) + size(x%some)
  x%n = x%n + 1
  x%some(4) = x%some(4) + x%n
  !$acc end parallel
  if (.not. here .or. elements /= 4) stop 1
  !$acc exit data copyout(x%some) delete(x%none)
  !$acc exit data copyout(x)
  if (x%n /= 4 .or. x%some(4) /= 8 .or. size(x%none) /= 0) stop 2

  ! Without the structure around them.
  !$acc enter data create(x%none)
  !$acc exit data delete(x%none) finalize
  !$acc data copyin(x%none) copy(x%some)
  !$acc update self(x%some)
  !$acc end data
  if (x%some(4) /= 8) stop 3

  ! It gets elements, loses them, and gets them again.
  !$acc enter data copyin(x)
  !$acc enter data copyin(x%none)
  !$acc exit data delete(x%none)
  !$acc exit data delete(x)
  deallocate (x%none)
  allocate (x%none(2))
  x%none = 5
  !$acc enter data copyin(x)
  !$acc enter data copyin(x%none)
  !$acc parallel present(x)
  x%none(2) = x%none(2) + x%none(1)
  !$acc end parallel
  !$acc exit data copyout(x%none)
  !$acc exit data delete(x)
  if (any(x%none /= [5, 10])) stop 4
  print '(a)', 'passed'
end program empty_components
