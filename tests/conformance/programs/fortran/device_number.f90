! covers: omp_lib: omp_get_device_num in target regions and their threads
! stock: differs because omp_get_device_num in a region answers the host's number
program device_number
  use omp_lib
  implicit none
  integer :: d, number, threads(4)
  do d = 0, omp_get_num_devices() - 1
    number = -7
    threads = d
    !$omp target device(d) map(from: number)
    number = omp_get_device_num()
    !$omp end target
    !$omp target parallel num_threads(4) device(d) map(tofrom: threads)
    threads(omp_get_thread_num() + 1) = omp_get_device_num()
    !$omp end target parallel
    print '(i4, i4, l3)', d, number, all(threads == d)
  end do
  print *, omp_get_device_num() == omp_get_initial_device()
end program device_number
