!mod$ v1 sum:c808b83f1bba85ea
module lists
type::node
integer(4)::v=0_4
type(node),pointer::next=>NULL()
end type
intrinsic::null
type::square
real(4)::side=2._4
contains
procedure::area
end type
contains
function area(this)
class(square),intent(in)::this
real(4)::area
end
end
