! Statements that device code cannot run.
program main
  implicit none
  type pair
    integer :: first
    real :: second
  end type
  type(pair) :: p
  integer :: k
  namelist /all/ k
  k = 1
  p = pair(1, 2.0)
  !$omp target map(tofrom: k) map(to: p)
#ifdef READ
  read(*, *) k
#endif
#ifdef NAMELIST
  write(*, nml=all)
#endif
#ifdef UNFORMATTED
  write(7) k
#endif
#ifdef DERIVED
  print *, p
#endif
  !$omp end target
end program
