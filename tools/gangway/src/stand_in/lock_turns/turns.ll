target triple = "amdgcn-amd-amdhsa"

define void @add(ptr %lock, ptr %sum) {
entry:
  br label %gangway.turns.0.begin
gangway.lock.1:
  call void @take(ptr %lock), !dbg !7
  br label %gangway.lock.2
gangway.lock.2:
  %0 = load i32, ptr %sum, align 4
  %1 = add i32 %0, 1
  store i32 %1, ptr %sum, align 4
  br label %gangway.lock.3
gangway.lock.3:
  call void @omp_unset_lock(ptr %lock)
  br label %gangway.turns.0.leave.0
gangway.lock.4:
  ret void
gangway.turns.0.leave.0:
  br label %gangway.turns.0.next
gangway.turns.0.out.0:
  br label %gangway.lock.4
gangway.turns.0.begin:
  %gangway.turns.0.lanes = call i64 @llvm.amdgcn.ballot.i64(i1 true)
  %gangway.turns.0.low = call i32 @llvm.amdgcn.mbcnt.lo(i32 -1, i32 0)
  %gangway.turns.0.lane = call i32 @llvm.amdgcn.mbcnt.hi(i32 -1, i32 %gangway.turns.0.low)
  %gangway.turns.0.own = zext i32 %gangway.turns.0.lane to i64
  br label %gangway.turns.0.turn
gangway.turns.0.turn:
  %gangway.turns.0.waiting = phi i64 [ %gangway.turns.0.lanes, %gangway.turns.0.begin ], [ %gangway.turns.0.left, %gangway.turns.0.next ]
  %gangway.turns.0.way = phi i32 [ 0, %gangway.turns.0.begin ], [ %gangway.turns.0.way.next, %gangway.turns.0.next ]
  %gangway.turns.0.first = call i64 @llvm.cttz.i64(i64 %gangway.turns.0.waiting, i1 true)
  %gangway.turns.0.mine = icmp eq i64 %gangway.turns.0.first, %gangway.turns.0.own
  br i1 %gangway.turns.0.mine, label %gangway.lock.1, label %gangway.turns.0.next
gangway.turns.0.next:
  %gangway.turns.0.way.next = phi i32 [ %gangway.turns.0.way, %gangway.turns.0.turn ], [ 0, %gangway.turns.0.leave.0 ]
  call void @llvm.amdgcn.wave.barrier()
  %gangway.turns.0.less = add i64 %gangway.turns.0.waiting, -1
  %gangway.turns.0.left = and i64 %gangway.turns.0.waiting, %gangway.turns.0.less
  %gangway.turns.0.more = icmp ne i64 %gangway.turns.0.left, 0
  br i1 %gangway.turns.0.more, label %gangway.turns.0.turn, label %gangway.turns.0.end
gangway.turns.0.end:
  br label %gangway.turns.0.out.0
}

define void @take(ptr %lock) {
entry:
  call void @omp_set_lock(ptr %lock)
  ret void
}

declare void @omp_set_lock(ptr)
declare i64 @llvm.amdgcn.ballot.i64(i1)
declare i32 @llvm.amdgcn.mbcnt.lo(i32, i32)
declare i32 @llvm.amdgcn.mbcnt.hi(i32, i32)
declare void @llvm.amdgcn.wave.barrier()
declare i64 @llvm.cttz.i64(i64, i1 immarg)
