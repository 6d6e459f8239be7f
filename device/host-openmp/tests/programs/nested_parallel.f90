! Several parallel regions in one target region, nested parallel regions,
! num_threads, if, and what the thread queries answer.
program nested_parallel
  use omp_lib
  implicit none
  integer :: hits(8), i, threads, level, inner(4), outside
  logical :: distinct
  hits = 0; inner = 0
  !$omp target map(tofrom: hits, threads, level)
  !$omp parallel num_threads(4)
  hits(omp_get_thread_num() + 1) = hits(omp_get_thread_num() + 1) + 1
  !$omp single
  threads = omp_get_num_threads()
  level = omp_get_level()
  !$omp end single
  !$omp end parallel
  !$omp parallel num_threads(2)
  hits(omp_get_thread_num() + 1) = hits(omp_get_thread_num() + 1) + 10
  !$omp end parallel
  !$omp parallel if(.false.)
  hits(8) = omp_get_num_threads()
  !$omp end parallel
  !$omp end target
  print *, hits, threads, level

  !$omp target map(tofrom: inner, outside, distinct)
  outside = omp_get_num_threads()
  !$omp parallel num_threads(4)
  !$omp parallel num_threads(4)
  !$omp atomic
  inner(omp_get_ancestor_thread_num(1) + 1) = inner(omp_get_ancestor_thread_num(1) + 1) + 1
  !$omp end parallel
  !$omp end parallel
  distinct = all(inner == inner(1)) .and. inner(1) >= 1
  !$omp end target
  print *, distinct, outside

  hits = 0
  !$omp target parallel do num_threads(3) map(tofrom: hits)
  do i = 1, 8
    hits(i) = omp_get_num_threads()
  end do
  print *, hits
end program
