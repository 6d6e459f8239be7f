! Since GCC 15: objects of the runtime under a device.
program main
  use omp_lib
  use iso_c_binding
  implicit none
  integer(omp_interop_kind) :: object
  integer(omp_interop_rc_kind) :: code
  character(:), pointer :: text
  object = omp_interop_none
  !$omp interop init(prefer_type("cuda"), targetsync: object)
  if (object == omp_interop_none) error stop 1
  if (omp_get_interop_int(object, omp_ipr_fr_id, code) /= omp_ifr_cuda) error stop 2
  text => omp_get_interop_str(object, omp_ipr_fr_name, code)
  if (text /= "cuda" .or. code /= omp_irc_success) error stop 3
  text => omp_get_interop_name(object, omp_ipr_vendor)
  if (text /= "vendor") error stop 4
  text => omp_get_interop_type_desc(object, omp_ipr_targetsync)
  if (text /= "cudaStream_t") error stop 5
  text => omp_get_interop_rc_desc(object, omp_irc_empty)
  if (len(text) == 0) error stop 6
  if (.not. c_associated(omp_get_interop_ptr(object, omp_ipr_targetsync, code))) error stop 7
  !$omp interop use(object)
  !$omp interop destroy(object)
  if (object /= omp_interop_none) error stop 8
  print '(a)', "passed"
end program
