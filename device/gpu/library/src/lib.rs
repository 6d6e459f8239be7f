//! The C library's functions on texts, numbers and arrays that GPU code carries out by itself, under
//! their names (C11 7.4, 7.22, 7.24, and a few of POSIX's).
//!
//! This is a package of its own and a member of its own in the archive, so that the linker does not
//! even read it for programs without them. `memcpy`, `memset`, `memcmp` and `strlen` are in the
//! device runtime, since compilers call them by themselves.
//!
//! | Module | What is in it |
//! |---|---|
//! | `export` | how a function is exported |
//! | `arithmetic` | quotients and absolute values |
//! | `array` | searching and sorting |
//! | `letter` | kinds of letters |
//! | `memory` | bytes of memory |
//! | `text` | texts |
//! | `number` | numbers in texts |
//!
//! The locale is always "C". Nothing sets `errno`, which device code does not have.

#![cfg_attr(gpu, no_std)]
#![cfg_attr(gpu, feature(linkage, core_intrinsics))]
#![cfg_attr(gpu, allow(internal_features))]

mod export;

pub mod arithmetic;
pub mod array;
pub mod letter;
pub mod memory;
pub mod number;
pub mod text;

/// Compiled so that a panic is a trap, the crate reaches no handler; the compiler wants one.
#[cfg(gpu)]
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    core::intrinsics::abort()
}
