! The Fortran runtime's array and character procedures, called in a region.
program runtime_arrays
  use ieee_arithmetic
  implicit none
  integer :: v(12), p(12), m(3,4), i, pos(2), r1, r2, cnt
  integer, allocatable :: packed(:)
  real(8) :: x(12), nrm
  logical :: mask(12), par, fin
  character(12) :: s, t, u
  v = [(mod(i*5,12), i=1,12)]
  x = v
  mask = mod(v,2)==0
  s = '  hello '
  !$omp target map(tofrom: v,x,m,p,s,t,u,pos,r1,r2,nrm,par,fin,cnt) map(to:mask)
  block
    integer, allocatable :: q(:), q2(:)
    q = pack(v, mask)
    cnt = size(q)
    p = unpack(q, mask, 0)
    m = reshape(v, [3,4])
    pos = maxloc(m)
    r1 = findloc(v, 7, dim=1)
    m = m + spread([1,2,3], 2, 4)
    v = eoshift(v, 2, 9)
    nrm = norm2(x)
    par = parity(mask)
    t = adjustl(s)
    u = repeat('ab', 3)
    r2 = scan(s, 'lo') + 10*verify(s, ' ')
    call move_alloc(q, q2)
    cnt = cnt + 100*size(q2)
    fin = ieee_is_finite(nrm) .and. .not. ieee_is_nan(nrm)
    m(1,:) = iand(m(1,:), 7) + ishft(m(2,:), 1) + popcnt(m(3,:))
    m(2,1) = minval(v) + product(v(1:3)+1) + dot_product(v,v) + sum(merge(v,0,mask))
  end block
  !$omp end target
  print *, v, p
  print *, m, pos, r1, r2, cnt
  print *, nrm, par, fin, '[', t, '][', u, ']'
end program
