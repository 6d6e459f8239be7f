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
