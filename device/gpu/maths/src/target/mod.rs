//! What processors do in one instruction, exactly rounded, and what only GPUs have.
//!
//! The host's half exists for the tests: all that is computed on top of this runs there, too.

#[cfg(not(gpu))]
mod host;
#[cfg(gpu)]
mod instructions;
#[cfg(target_arch = "nvptx64")]
mod nvptx;

#[cfg(not(gpu))]
pub use host::*;
#[cfg(gpu)]
pub use instructions::*;
#[cfg(target_arch = "nvptx64")]
pub use nvptx::*;
