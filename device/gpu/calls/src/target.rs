//! What the calls need of a GPU, for one kind of it at a time.

#[cfg(target_arch = "amdgpu")]
mod amdgcn;
#[cfg(target_arch = "nvptx64")]
mod nvptx;

#[cfg(target_arch = "amdgpu")]
pub use amdgcn::*;
#[cfg(target_arch = "nvptx64")]
pub use nvptx::*;
