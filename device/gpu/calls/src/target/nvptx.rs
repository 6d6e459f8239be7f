//! NVIDIA's GPUs: a port has as many lanes as a warp.

mod intrinsic {
    unsafe extern "C" {
        #[link_name = "llvm.nvvm.read.ptx.sreg.laneid"]
        pub safe fn laneid() -> u32;
        #[link_name = "llvm.nvvm.read.ptx.sreg.ctaid.x"]
        pub safe fn ctaid_x() -> u32;
        #[link_name = "llvm.nvvm.read.ptx.sreg.warpid"]
        pub safe fn warpid() -> u32;
        #[link_name = "llvm.nvvm.activemask"]
        pub safe fn activemask() -> u32;
        #[link_name = "llvm.nvvm.bar.warp.sync"]
        pub safe fn bar_warp_sync(mask: u32);
        #[link_name = "llvm.nvvm.vote.ballot.sync"]
        pub safe fn ballot(mask: u32, predicate: bool) -> u32;
        #[link_name = "llvm.nvvm.shfl.sync.idx.i32"]
        pub safe fn shuffle_index(mask: u32, value: u32, lane: u32, clamp: u32) -> u32;
        #[link_name = "llvm.nvvm.isspacep.global"]
        pub safe fn is_global(address: *const u8) -> bool;
        #[link_name = "llvm.nvvm.nanosleep"]
        pub safe fn nanosleep(nanoseconds: u32);
    }
}

pub use intrinsic::{activemask, ballot, bar_warp_sync, is_global, laneid, nanosleep};

#[inline(always)]
pub fn shuffle_index(mask: u32, value: u32, lane: u32) -> u32 {
    intrinsic::shuffle_index(mask, value, lane, 31)
}

#[inline(always)]
pub fn spread() -> u32 {
    intrinsic::ctaid_x() ^ intrinsic::warpid()
}

/// Has the lanes of a warp call.
#[inline(always)]
pub fn in_turn(mut call: impl FnMut()) {
    call();
}
