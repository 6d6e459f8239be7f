//! What flang's functions need of a GPU, for one kind of it at a time.

#[cfg(target_arch = "nvptx64")]
mod nvptx {
    unsafe extern "C" {
        /// Nanoseconds since some moment.
        #[link_name = "llvm.nvvm.read.ptx.sreg.globaltimer"]
        pub safe fn nanoseconds() -> u64;
    }
}

#[cfg(target_arch = "nvptx64")]
pub use nvptx::*;

/// The counter of AMD's GPUs runs at 100 MHz.
#[cfg(target_arch = "amdgpu")]
pub fn nanoseconds() -> u64 {
    unsafe extern "C" {
        #[link_name = "llvm.readsteadycounter"]
        safe fn steady_counter() -> u64;
    }
    steady_counter() * 10
}

/// Nanoseconds since some moment.
#[cfg(not(gpu))]
pub fn nanoseconds() -> u64 {
    0
}
