!mod$ v1 sum:51852393c1ac8415
module work
contains
subroutine scale_explicit(n,x,by)
integer(4),intent(in)::n
real(8),intent(inout)::x(1_8:int(n,kind=8))
real(8),intent(in)::by
end
subroutine shift_assumed(x,by)
real(8),intent(inout)::x(:)
real(8),value::by
end
end
