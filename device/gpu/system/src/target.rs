//! What the functions need of a GPU, for one kind of it at a time.

#[cfg(target_arch = "nvptx64")]
mod nvptx {
    unsafe extern "C" {
        #[link_name = "llvm.nvvm.nanosleep"]
        pub safe fn nanosleep(nanoseconds: u32);
    }
}

#[cfg(target_arch = "nvptx64")]
pub use nvptx::*;

/// Waits for about that long, in steps that the instruction can name.
#[cfg(target_arch = "amdgpu")]
pub fn nanosleep(nanoseconds: u32) {
    unsafe extern "C" {
        #[link_name = "llvm.amdgcn.s.sleep"]
        safe fn s_sleep(clocks_by_64: u32);
    }
    if nanoseconds < 1000 { s_sleep(1) } else { s_sleep(64) }
}
