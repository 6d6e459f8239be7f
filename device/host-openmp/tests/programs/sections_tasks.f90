! sections, workshare and explicit tasks inside a target region.
program sections_tasks
  implicit none
  integer :: a, b, c, i, total, v(100), w(100)
  a = 0; b = 0; c = 0; total = 0
  !$omp target map(tofrom: a, b, c)
  !$omp parallel sections num_threads(3)
  !$omp section
  a = 1
  !$omp section
  b = 2
  !$omp section
  c = 3
  !$omp end parallel sections
  !$omp end target
  print *, a, b, c
  !$omp target map(tofrom: total)
  !$omp parallel num_threads(4)
  !$omp single
  do i = 1, 20
    !$omp task firstprivate(i) shared(total)
    !$omp atomic
    total = total + i
    !$omp end task
  end do
  !$omp taskwait
  !$omp end single
  !$omp end parallel
  !$omp end target
  print *, total
  v = [(i, i = 1, 100)]
  !$omp target map(to: v) map(from: w)
  !$omp parallel
  !$omp workshare
  w = v * 2
  !$omp end workshare
  !$omp end parallel
  !$omp end target
  print *, sum(w)
end program
