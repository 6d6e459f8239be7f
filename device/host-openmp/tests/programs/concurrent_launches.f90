! reference: concurrent_launches.expected
! Kernels launched by threads of a host team, each with a teams reduction and
! a barrier of its own that must not meet those of the host team.
! (Compiled for the host, flang's teams constructs inside a parallel region
! fail an assertion of libomp, so there is no host run to compare with.)
program concurrent_launches
  use omp_lib
  implicit none
  integer :: t, results(8), generic(8), done
  results = 0; generic = 0
  !$omp parallel do num_threads(8) schedule(static, 1)
  do t = 1, 8
    call work(t, results(t), generic(t))
  end do
  print *, results
  print *, generic
  done = 0
  !$omp parallel num_threads(3)
  !$omp single
  do t = 1, 12
    !$omp target teams distribute parallel do nowait map(tofrom: results)
    do done = 1, 8
      !$omp atomic
      results(done) = results(done) + 1
    end do
  end do
  !$omp taskwait
  !$omp end single
  !$omp end parallel
  print *, results
contains
  subroutine work(k, total, serial)
    integer, intent(in) :: k
    integer, intent(out) :: total, serial
    integer :: j, s, g, round
    total = 0; serial = 0
    do round = 1, 25
      s = 0; g = 0
      !$omp target teams distribute parallel do map(tofrom: s) reduction(+: s)
      do j = 1, 100
        s = s + k * j
      end do
      !$omp target teams distribute map(tofrom: g) reduction(+: g)
      do j = 1, 10
        g = g + k
      end do
      total = total + s
      serial = serial + g
    end do
  end subroutine
end program
