!mod$ v1 sum:77ed8a0ea9f3f022
module shapes
type::point
real(8)::x
real(8)::y
end type
type::mesh
integer(4)::n=0_4
type(point)::centre
real(8),allocatable::values(:)
integer(4)::tag(1_8:4_8)
end type
end
