! What the Fortran compiler makes of variables that stay and of those that grow.
subroutine kernel(to) bind(c)
  integer, intent(out) :: to
  integer, save :: total = 5
  real, allocatable, save :: values(:)
  if (.not. allocated(values)) allocate(values(10), source=1.5)
  total = total + nint(sum(values))
  to = total
  if (total < 0) print *, "never"
end subroutine
