; What compilers reach through intrinsics: the exchange between lanes, packed
; arithmetic, asynchronous copies, special registers.
target triple = "nvptx64-nvidia-cuda"

declare i32 @llvm.nvvm.activemask()
declare i32 @llvm.nvvm.match.any.sync.i32(i32, i32)
declare { i32, i1 } @llvm.nvvm.match.all.sync.i64p(i32, i64)
declare i32 @llvm.nvvm.redux.sync.add(i32, i32)
declare i32 @llvm.nvvm.redux.sync.umax(i32, i32)
declare { i32, i1 } @llvm.nvvm.elect.sync(i32)
declare i32 @llvm.nvvm.idp4a.s.u(i32, i32, i32)
declare i32 @llvm.nvvm.idp2a.u.s(i32, i32, i1 immarg, i32)
declare i32 @llvm.nvvm.prmt(i32, i32, i32)
declare float @llvm.nvvm.tanh.approx.f32(float)
declare float @llvm.nvvm.fmin.nan.f(float, float)
declare <2 x half> @llvm.nvvm.fma.rn.relu.f16x2(<2 x half>, <2 x half>, <2 x half>)
declare <2 x bfloat> @llvm.nvvm.ff2bf16x2.rn.relu(float, float)
declare void @llvm.nvvm.cp.async.cg.shared.global.16(ptr addrspace(3), ptr addrspace(1))
declare void @llvm.nvvm.cp.async.ca.shared.global.4.s(ptr addrspace(3), ptr addrspace(1), i32)
declare void @llvm.nvvm.cp.async.commit.group()
declare void @llvm.nvvm.cp.async.wait.group(i32 immarg)
declare void @llvm.nvvm.cp.async.wait.all()
declare i32 @llvm.nvvm.read.ptx.sreg.lanemask.lt()
declare i64 @llvm.nvvm.read.ptx.sreg.clock64()
declare i64 @llvm.nvvm.read.ptx.sreg.globaltimer()
declare i32 @llvm.nvvm.read.ptx.sreg.warpid()
declare void @llvm.nvvm.nanosleep(i32)
declare i1 @llvm.nvvm.isspacep.shared(ptr)
declare i32 @llvm.fshl.i32(i32, i32, i32)
declare i16 @llvm.sadd.sat.i16(i16, i16)
declare void @llvm.nvvm.barrier.cta.sync.aligned.count(i32, i32)
declare void @llvm.nvvm.bar.warp.sync(i32)
declare void @llvm.nvvm.exit()
declare ptr @llvm.stacksave()
declare void @llvm.stackrestore(ptr)

define ptx_kernel void @lanes(ptr addrspace(1) %out, i32 %x, i64 %y) {
  %mask = call i32 @llvm.nvvm.activemask()
  %any = call i32 @llvm.nvvm.match.any.sync.i32(i32 %mask, i32 %x)
  %all = call { i32, i1 } @llvm.nvvm.match.all.sync.i64p(i32 %mask, i64 %y)
  %same = extractvalue { i32, i1 } %all, 1
  %sum = call i32 @llvm.nvvm.redux.sync.add(i32 %any, i32 %mask)
  %max = call i32 @llvm.nvvm.redux.sync.umax(i32 %sum, i32 %mask)
  %elected = call { i32, i1 } @llvm.nvvm.elect.sync(i32 %mask)
  %leader = extractvalue { i32, i1 } %elected, 1
  %below = call i32 @llvm.nvvm.read.ptx.sreg.lanemask.lt()
  %chosen = select i1 %leader, i32 %max, i32 %below
  %wide = zext i1 %same to i32
  %value = add i32 %chosen, %wide
  store i32 %value, ptr addrspace(1) %out
  call void @llvm.nvvm.bar.warp.sync(i32 %mask)
  call void @llvm.nvvm.barrier.cta.sync.aligned.count(i32 3, i32 64)
  call void @llvm.nvvm.nanosleep(i32 100)
  call void @llvm.nvvm.exit()
  ret void
}

define ptx_kernel void @packed(ptr addrspace(1) %out, i32 %a, i32 %b, i32 %c, float %f, <2 x half> %h) {
  %d4 = call i32 @llvm.nvvm.idp4a.s.u(i32 %a, i32 %b, i32 %c)
  %d2 = call i32 @llvm.nvvm.idp2a.u.s(i32 %a, i32 %b, i1 true, i32 %d4)
  %bytes = call i32 @llvm.nvvm.prmt(i32 %d2, i32 %b, i32 %c)
  %turned = call i32 @llvm.fshl.i32(i32 %bytes, i32 %b, i32 %c)
  %t = call float @llvm.nvvm.tanh.approx.f32(float %f)
  %m = call float @llvm.nvvm.fmin.nan.f(float %t, float %f)
  %r = call <2 x half> @llvm.nvvm.fma.rn.relu.f16x2(<2 x half> %h, <2 x half> %h, <2 x half> %h)
  %bf = call <2 x bfloat> @llvm.nvvm.ff2bf16x2.rn.relu(float %m, float %f)
  store i32 %turned, ptr addrspace(1) %out
  %p1 = getelementptr i8, ptr addrspace(1) %out, i64 8
  store <2 x half> %r, ptr addrspace(1) %p1
  %p2 = getelementptr i8, ptr addrspace(1) %out, i64 16
  store <2 x bfloat> %bf, ptr addrspace(1) %p2
  %h0 = extractelement <2 x half> %r, i32 0
  %cmp = fcmp ult half %h0, 1.0
  %s = trunc i32 %a to i16
  %sat = call i16 @llvm.sadd.sat.i16(i16 %s, i16 7)
  %z = select i1 %cmp, i16 %sat, i16 3
  store i16 %z, ptr addrspace(1) %p2
  %u = uitofp i16 %z to bfloat
  %v = fadd bfloat %u, 1.5
  store bfloat %v, ptr addrspace(1) %p1
  ret void
}

define ptx_kernel void @copies(ptr addrspace(3) %to, ptr addrspace(1) %from, ptr %any, i32 %n) {
  call void @llvm.nvvm.cp.async.cg.shared.global.16(ptr addrspace(3) %to, ptr addrspace(1) %from)
  call void @llvm.nvvm.cp.async.ca.shared.global.4.s(ptr addrspace(3) %to, ptr addrspace(1) %from, i32 %n)
  call void @llvm.nvvm.cp.async.commit.group()
  call void @llvm.nvvm.cp.async.wait.group(i32 1)
  call void @llvm.nvvm.cp.async.wait.all()
  %shared = call i1 @llvm.nvvm.isspacep.shared(ptr %any)
  %time = call i64 @llvm.nvvm.read.ptx.sreg.clock64()
  %timer = call i64 @llvm.nvvm.read.ptx.sreg.globaltimer()
  %warp = call i32 @llvm.nvvm.read.ptx.sreg.warpid()
  %now = add i64 %time, %timer
  store volatile i64 %now, ptr %any
  store atomic i32 %warp, ptr %any syncscope("block") release, align 4
  fence syncscope("device") acq_rel
  br i1 %shared, label %yes, label %no
yes:
  %saved = call ptr @llvm.stacksave()
  %space = alloca i32, i32 %n
  store volatile i32 1, ptr %space
  call void @llvm.stackrestore(ptr %saved)
  %old = atomicrmw fadd ptr %any, float 1.0 seq_cst
  %old2 = atomicrmw umin ptr %any, i64 5 syncscope("block") monotonic
  %old3 = atomicrmw uinc_wrap ptr %any, i32 9 seq_cst
  %old4 = atomicrmw fadd ptr %any, half 1.0 seq_cst
  br label %no
no:
  ret void
}
