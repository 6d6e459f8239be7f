!mod$ v1 sum:a60a5d01ceaa0c32
module tools
contains
recursive function fibonacci(n) result(value)
integer(4),intent(in)::n
integer(4)::value
end
pure function norm2_of(n,x)
integer(4),intent(in)::n
real(8),intent(in)::x(1_8:int(n,kind=8))
real(8)::norm2_of
end
subroutine swap(a,b)
integer(4),intent(inout)::a
integer(4),intent(inout)::b
end
end
