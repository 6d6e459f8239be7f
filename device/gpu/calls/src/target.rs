//! What the calls need of a GPU, for one kind of it at a time.

#[cfg(target_arch = "nvptx64")]
mod nvptx {
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

#[cfg(target_arch = "nvptx64")]
pub use nvptx::*;
