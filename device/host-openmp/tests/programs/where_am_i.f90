! reference: where_am_i.expected
! Answers differently on the host and on a device, so that a silent fall-back
! to the host cannot pass for a device run.
program where_am_i
  use omp_lib
  implicit none
  logical :: initial
  integer :: threads
  threads = 0
  !$omp target map(from: initial) map(tofrom: threads)
  initial = omp_is_initial_device()
  !$omp parallel num_threads(4)
  !$omp atomic
  threads = threads + 1
  !$omp end parallel
  !$omp end target
  print *, 'initial device:', initial
  if (.not. omp_is_initial_device()) print *, 'the host takes itself for a device'
  print *, 'threads:', threads
end program
