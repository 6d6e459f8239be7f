//! The runtime of OpenMP code on GPUs: what stock clang and flang call in device code.
//!
//! `cargo xtask stage` compiles it to LLVM bitcode and packs it as `libompdevice.a`, which clang links
//! into the image. The README tells how, and what has to hold so that it vanishes in optimised code.
//!
//! [`target`] is the only module that knows a kind of GPU. Nothing here may panic, allocate through
//! Rust or use dynamic dispatch: all of it ends up in somebody else's kernel.

#![cfg_attr(not(test), no_std)]
#![feature(link_llvm_intrinsics)]
#![cfg_attr(target_arch = "nvptx64", feature(asm_experimental_arch))]
#![allow(internal_features)]

pub mod environment;
pub mod kernel;
pub mod reduction;
pub mod target;

/// Compiled so that a panic is a trap, the crate reaches no handler; the compiler wants one.
#[cfg(all(target_arch = "nvptx64", not(test)))]
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    target::trap()
}
