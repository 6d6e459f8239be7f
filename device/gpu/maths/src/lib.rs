//! Mathematical functions for GPU code, under the names that compilers and headers call.
//!
//! Stock clang has no mathematical library for NVIDIA's GPUs: its headers turn `sin` into
//! `__nv_sin`, a function of NVIDIA's libdevice, and what does not come through these headers calls
//! `sin` itself, as Fortran does. Here are both. The elementary functions are those of the `libm`
//! crate; what a processor does exactly in one instruction is done so ([`target`]).
//!
//! | Module | What is in it |
//! |---|---|
//! | `export` | how a function is exported |
//! | [`target`] | what a processor does in one instruction |
//! | `complex` | complex numbers |
//! | `special` | special functions |
//! | `elementary` | elementary functions |
//! | `fortran` | what flang calls |
//! | `libdevice` | the names of NVIDIA's libdevice |
//!
//! This is a package of its own and a member of its own in the archive, so that the linker does not
//! even read it for programs without mathematics. Nothing here knows of threads or teams.

#![cfg_attr(gpu, no_std)]
#![cfg_attr(gpu, feature(linkage, link_llvm_intrinsics))]
#![cfg_attr(target_arch = "nvptx64", feature(f16))]
#![cfg_attr(gpu, allow(internal_features))]

mod export;
pub mod target;

pub mod complex;
pub mod elementary;
pub mod fortran;
pub mod libdevice;
pub mod special;

/// Compiled so that a panic is a trap, the crate reaches no handler; the compiler wants one.
#[cfg(gpu)]
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    target::trap()
}
