!mod$ v1 sum:4578401dd99bee3f
module logging
contains
subroutine log(k,x,failed,reason)
integer(4),intent(in)::k
real(4),intent(in)::x
integer(4),intent(out)::failed
character(*,1),intent(inout)::reason
end
end
