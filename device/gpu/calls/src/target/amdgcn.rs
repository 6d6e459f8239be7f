//! AMD's GPUs. A port has 32 lanes, and a wave may have 64: the upper half calls behind the lower one. Here a
//! lane's number, and masks, are those in its half.

mod intrinsic {
    unsafe extern "C" {
        #[link_name = "llvm.amdgcn.workgroup.id.x"]
        pub safe fn workgroup_id_x() -> u32;
        #[link_name = "llvm.amdgcn.workitem.id.x"]
        pub safe fn workitem_id_x() -> u32;
        #[link_name = "llvm.amdgcn.mbcnt.lo"]
        pub safe fn mbcnt_lo(mask: u32, sum: u32) -> u32;
        #[link_name = "llvm.amdgcn.mbcnt.hi"]
        pub safe fn mbcnt_hi(mask: u32, sum: u32) -> u32;
        #[link_name = "llvm.amdgcn.ballot.i64"]
        pub safe fn ballot(predicate: bool) -> u64;
        #[link_name = "llvm.amdgcn.ds.bpermute"]
        pub safe fn permute(byte: u32, value: u32) -> u32;
        #[link_name = "llvm.amdgcn.wave.barrier"]
        pub safe fn wave_barrier();
        #[link_name = "llvm.amdgcn.is.shared"]
        pub safe fn is_shared(address: *const u8) -> bool;
        #[link_name = "llvm.amdgcn.is.private"]
        pub safe fn is_private(address: *const u8) -> bool;
        #[link_name = "llvm.amdgcn.s.sleep"]
        pub safe fn s_sleep(clocks_by_64: u32);
    }
    unsafe extern "C" {
        /// A fence, which the build puts in its place.
        pub safe fn __gangway_fence_wave();
    }
}

#[inline(always)]
fn lane_of_wave() -> u32 {
    intrinsic::mbcnt_hi(u32::MAX, intrinsic::mbcnt_lo(u32::MAX, 0))
}

#[inline(always)]
pub fn laneid() -> u32 {
    lane_of_wave() % 32
}

/// The half that a lane is in, of lanes of the wave.
#[inline(always)]
fn half(lanes: u64) -> u32 {
    (lanes >> (lane_of_wave() & !31)) as u32
}

#[inline(always)]
pub fn activemask() -> u32 {
    half(intrinsic::ballot(true))
}

#[inline(always)]
pub fn ballot(mask: u32, predicate: bool) -> u32 {
    half(intrinsic::ballot(predicate)) & mask
}

#[inline(always)]
pub fn shuffle_index(_: u32, value: u32, lane: u32) -> u32 {
    intrinsic::permute((lane_of_wave() & !31 | lane) << 2, value)
}

#[inline(always)]
pub fn bar_warp_sync(_: u32) {
    intrinsic::__gangway_fence_wave();
    intrinsic::wave_barrier();
    intrinsic::__gangway_fence_wave();
}

#[inline(always)]
pub fn is_global(address: *const u8) -> bool {
    !intrinsic::is_shared(address) && !intrinsic::is_private(address)
}

#[inline(always)]
pub fn nanosleep(nanoseconds: u32) {
    if nanoseconds < 1000 { intrinsic::s_sleep(1) } else { intrinsic::s_sleep(32) }
}

#[inline(always)]
pub fn spread() -> u32 {
    intrinsic::workgroup_id_x() ^ intrinsic::workitem_id_x() >> 5
}

/// Has the lanes of a wave call, one half behind the other. All lanes go through both turns, so that
/// none waits behind the loop for those that are still to call.
#[inline(always)]
pub fn in_turn(mut call: impl FnMut()) {
    for turn in 0..2 {
        if lane_of_wave() / 32 == turn {
            call();
        }
    }
}
