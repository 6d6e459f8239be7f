!mod$ v1 sum:b261c7cc1b78f400
module physics
integer(4),parameter::cells=300_4
integer(4)::scale
real(8)::field(1_8:300_8)
integer(4)::big(1_8:300_8)
contains
function scaled(i)
integer(4),intent(in)::i
integer(4)::scaled
end
function square(i)
integer(4),intent(in)::i
integer(4)::square
end
recursive function fib(n) result(r)
integer(4),intent(in)::n
integer(4)::r
end
subroutine smooth(v)
real(8),intent(inout)::v(:)
end
end
