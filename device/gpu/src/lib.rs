//! The runtime of OpenMP code on GPUs: what stock clang and flang call in device code.
//!
//! `cargo xtask stage` compiles it to LLVM bitcode and packs it as `libompdevice.a`, which clang links
//! into the image. The README tells how, and what has to hold so that it vanishes in optimised code.
//!
//! [`target`] is the only module that knows a kind of GPU. Nothing here may panic, allocate through
//! Rust or use dynamic dispatch: all of it ends up in somebody else's kernel.

#![cfg_attr(not(test), no_std)]
#![cfg_attr(target_arch = "nvptx64", feature(asm_experimental_arch, link_llvm_intrinsics))]
#![allow(internal_features)]

// How a function is packed, which the build reads off its section:
//
// - `.gangway.inline`: inlined wherever a program calls it, at any optimisation. What waits for other
//   threads of its own warp is among them, as they may be in the program's function still;
// - `.gangway.call`: stays a call for LLVM's passes, which know its name.
//
// Both stay whole while the runtime itself is optimised, if they are also `inline(never)`. All other
// functions are for LLVM to decide on.

pub mod atomic;
pub mod copyprivate;
pub mod critical;
pub mod debug;
pub mod device;
pub mod dispatch;
pub mod doacross;
pub mod environment;
pub mod error;
pub mod explicit;
pub mod grid;
pub mod icv;
pub mod kernel;
pub mod libc;
pub mod lock;
pub mod memory;
pub mod microtask;
pub mod ompx;
pub mod ordered;
pub mod parallel;
pub mod place;
pub mod query;
pub mod reduction;
pub mod schedule;
pub mod share;
pub mod synchronize;
pub mod target;
pub mod task;
pub mod team_heap;
pub mod unfinished;
pub mod worker;
pub mod workshare;

/// Compiled so that a panic is a trap, the crate reaches no handler; the compiler wants one.
#[cfg(all(target_arch = "nvptx64", not(test)))]
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    target::trap()
}
