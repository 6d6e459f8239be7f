! Output statements inside a target region. An image has Fortran units of its
! own, so each side flushes what the other must not overtake.
program device_print
  implicit none
  print *, 'host before'
  flush(6)
  !$omp target
  print *, 'in the region', 42
  write (*, '(a, i0, a)') 'formatted <', 7, '>'
  flush(6)
  !$omp end target
  print *, 'host after'
end program
