! covers: parallel regions inside a region: barriers, single, critical, several of them, thread numbers
! host: equal
program parallel_in_region
  use omp_lib
  implicit none
  integer :: slots(64), threads, total, once, i
  slots = 0
  total = 0
  once = 0
  threads = 0
  !$omp target map(tofrom: slots, total, once, threads)
  !$omp parallel num_threads(4)
  slots(omp_get_thread_num() + 1) = 1
  !$omp barrier
  !$omp single
  threads = omp_get_num_threads()
  once = once + 1
  !$omp end single
  !$omp critical
  total = total + slots(1)
  !$omp end critical
  !$omp end parallel
  !$omp parallel do
  do i = 33, 64
    slots(i) = i
  end do
  !$omp end parallel do
  !$omp end target
  print *, sum(slots(1:32)) == threads, total == threads, once, sum(slots(33:64))
end program parallel_in_region
