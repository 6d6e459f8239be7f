! atomic update, read, write and capture from all threads of a region.
program atomics
  implicit none
  integer, parameter :: n = 20000
  integer :: i, counter, ticket, flag, seen, slots(n)
  real(8) :: x, peak
  counter = 0; x = 0; peak = -1; flag = 0; seen = 0
  !$omp target teams distribute parallel do map(tofrom: counter, x)
  do i = 1, n
    !$omp atomic update
    counter = counter + 1
    !$omp atomic
    x = x + 0.5d0
  end do
  print *, counter, x
  ticket = 0; slots = 0
  !$omp target parallel do map(tofrom: ticket, slots, peak, flag, seen) private(counter)
  do i = 1, n
    !$omp atomic capture
    ticket = ticket + 1
    counter = ticket
    !$omp end atomic
    slots(counter) = slots(counter) + 1
    !$omp atomic
    peak = max(peak, dble(i))
    !$omp atomic write
    flag = 7
    !$omp atomic read
    counter = flag
    if (counter == 7) then
      !$omp atomic
      seen = seen + 1
    end if
  end do
  print *, ticket, all(slots == 1), peak, flag, seen
end program
