! Complex numbers in Fortran's GPU code: intrinsic functions, arithmetic, powers, functions of the program,
! reductions, and text handed to procedures, which takes another way when complex numbers do.
module numbers
  implicit none
  integer, parameter :: n = 12
contains
  elemental complex(8) function turned(z, by)
    complex(8), intent(in) :: z
    real(8), intent(in) :: by
    !$omp declare target
    turned = z * exp(cmplx(0d0, by, 8))
  end function

  complex(4) function mean(z)
    complex(4), intent(in) :: z(:)
    !$omp declare target
    mean = sum(z) / size(z)
  end function

  integer function letters(first, number, second)
    character(len=*), intent(in) :: first, second
    integer, intent(in) :: number
    !$omp declare target
    letters = len(first) * 100 + number * 10 + len(second)
    if (first(1:1) == second(1:1)) letters = -letters
  end function

  subroutine swap(z, w)
    complex(8), intent(inout) :: z
    complex(8), value :: w
    !$omp declare target
    z = conjg(w) - z
  end subroutine

  elemental complex(8) function all_of_them(z, i)
    complex(8), intent(in) :: z
    integer, intent(in) :: i
    !$omp declare target
    all_of_them = exp(z) + log(z) + sqrt(z) + sin(z) + cos(z) + tan(z) + sinh(z) + cosh(z) + tanh(z) &
      + asin(z) + acos(z) + atan(z) + asinh(z) + acosh(z) + atanh(z) + abs(z) + z / (z + 1) + z * z &
      + z ** i + z ** (-3_8) + z ** (0.5d0, 1d0) + z ** 2.5d0 + aimag(z) + real(z)
  end function

  elemental complex(4) function all_of_them_single(z, i)
    complex(4), intent(in) :: z
    integer, intent(in) :: i
    !$omp declare target
    all_of_them_single = exp(z) + log(z) + sqrt(z) + sin(z) + cos(z) + tan(z) + sinh(z) + cosh(z) + tanh(z) &
      + asin(z) + acos(z) + atan(z) + asinh(z) + acosh(z) + atanh(z) + abs(z) + z / (z + 1) + z * z &
      + z ** i + z ** (-3_8) + z ** (0.5, 1.0) + z ** 2.5 + aimag(z) + real(z)
  end function
end module

program complex_of_fortran
  use numbers
  implicit none
  complex(8) :: z(n), w(n), total, product_of_all, expected
  complex(4) :: q(n), r(n), average
  integer :: i, k, failures
  character(len=7) :: word
  failures = 0
  z = [(cmplx(0.2d0 * i - 1, 0.9d0 - 0.13d0 * i, 8), i = 1, n)]
  q = cmplx(z, kind=4)
  !$omp target teams distribute parallel do map(to: z, q) map(from: w, r)
  do i = 1, n
    w(i) = all_of_them(z(i), i - 4)
    r(i) = all_of_them_single(q(i), i - 4)
  end do
  call check('intrinsics', all(abs(w - all_of_them(z, [(i - 4, i = 1, n)])) <= 1d-14 * abs(w)))
  call check('single', all(abs(r - all_of_them_single(q, [(i - 4, i = 1, n)])) <= 1e-5 * abs(r)))

  !$omp target map(to: z, q) map(from: w, average)
  w = turned(z, 0.5d0)
  average = mean(q)
  call swap(w(1), z(2))
  !$omp end target
  expected = conjg(z(2)) - turned(z(1), 0.5d0)
  call check('functions', all(abs(w(2:) - turned(z(2:), 0.5d0)) < 1d-15) .and. abs(w(1) - expected) < 1d-15)
  call check('mean', abs(average - sum(q) / n) < 1e-6)

  total = 0
  product_of_all = 1
  !$omp target teams distribute parallel do reduction(+: total) map(tofrom: total) map(to: z)
  do i = 1, n
    total = total + z(i) / abs(z(i))
  end do
  !$omp target parallel do reduction(*: product_of_all) map(tofrom: product_of_all) map(to: z)
  do i = 1, n
    product_of_all = product_of_all * z(i)
  end do
  call check('sum', abs(total - sum(z / abs(z))) < 1d-14)
  call check('product', abs(product_of_all - product(z)) < 1d-14)

  word = 'gangway'
  k = 0
  !$omp target map(tofrom: k) map(to: word)
  k = letters(word, 3, 'ab') + 1000 * letters(word(2:4), 2, 'abcd')
  !$omp end target
  call check('letters', k == 732 - 1000 * 324)
  if (failures /= 0) stop 1
  print '(a)', 'passed'
contains
  subroutine check(what, good)
    character(len=*), intent(in) :: what
    logical, intent(in) :: good
    if (good) return
    failures = failures + 1
    print '(2a)', 'wrong: ', what
  end subroutine
end program
