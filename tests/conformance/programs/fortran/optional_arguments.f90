! covers: optional dummy arguments that are absent, in map clauses of regions, data and update directives
! stock: differs because it copies from the address zero
! host: equal
module work
  implicit none
contains
  subroutine region(x, factor)
    real(8), intent(inout) :: x(4)
    real(8), intent(inout), optional :: factor
    integer :: i
    !$omp target map(tofrom: x, factor)
    do i = 1, 4
      if (present(factor)) then
        x(i) = x(i) * factor
      else
        x(i) = x(i) + 1
      end if
    end do
    if (present(factor)) factor = factor + 1
    !$omp end target
  end subroutine

  subroutine allocated(x, scratch)
    real(8), intent(inout) :: x(4)
    real(8), intent(inout), optional :: scratch(4)
    integer :: i
    !$omp target map(tofrom: x) map(alloc: scratch)
    do i = 1, 4
      x(i) = x(i) + 1
    end do
    if (present(scratch)) x(1) = -x(1)
    !$omp end target
  end subroutine

  subroutine data(x, bias)
    real(8), intent(inout) :: x(4)
    real(8), intent(inout), optional :: bias(4)
    integer :: i
    !$omp target data map(tofrom: x, bias)
    !$omp target teams distribute parallel do
    do i = 1, 4
      if (present(bias)) then
        x(i) = x(i) + bias(i)
        bias(i) = 0
      else
        x(i) = x(i) + 0.5d0
      end if
    end do
    !$omp end target data
  end subroutine

  subroutine unstructured(x, bias)
    real(8), intent(inout) :: x(4)
    real(8), intent(inout), optional :: bias(4)
    integer :: i
    !$omp target enter data map(to: x, bias)
    if (present(bias)) bias = 3
    !$omp target update to(bias)
    !$omp target map(tofrom: x, bias)
    do i = 1, 4
      if (present(bias)) x(i) = x(i) + bias(i)
    end do
    !$omp end target
    !$omp target update from(x, bias)
    !$omp target exit data map(release: x, bias)
  end subroutine
end module

program optional_arguments
  use work
  implicit none
  real(8) :: x(4), bias(4), factor
  x = [1, 2, 3, 4]
  factor = 2
  call region(x)
  print '(a,4f7.2)', 'region, absent:', x
  call region(x, factor)
  print '(a,5f7.2)', 'region, present:', x, factor
  call allocated(x)
  print '(a,4f7.2)', 'alloc, absent:', x
  call allocated(x, bias)
  print '(a,4f7.2)', 'alloc, present:', x
  bias = 10
  call data(x)
  print '(a,4f7.2)', 'data, absent:', x
  call data(x, bias)
  print '(a,8f7.2)', 'data, present:', x, bias
  call unstructured(x)
  print '(a,4f7.2)', 'unstructured, absent:', x
  call unstructured(x, bias)
  print '(a,8f7.2)', 'unstructured, present:', x, bias
end program
