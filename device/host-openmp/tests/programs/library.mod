!mod$ v1 sum:e945d3354c7532b3
module library
contains
elemental function twice(i)
integer(4),intent(in)::i
integer(4)::twice
end
subroutine accumulate(v,total,weight)
integer(4),intent(in)::v(:)
integer(4),intent(inout)::total
integer(4),intent(in),optional::weight
end
pure subroutine matrix_row(m,i,r)
integer(4),intent(in)::m(:,:)
integer(4),intent(in)::i
integer(4),intent(out)::r(:)
end
end
