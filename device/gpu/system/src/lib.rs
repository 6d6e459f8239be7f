//! The C library's functions that code on NVIDIA's GPUs calls and the host carries out, by one
//! host call (`gangway-system`). They stand for themselves in the archive: an image that calls none
//! of them has none, and makes no host calls for them.
//!
//! A function returns when the host has done what it stands for. So the output of a thread is in
//! its order, and none is lost if the kernel faults later.
//!
//! `printf` is not among them by itself: compilers make calls of `vprintf` of it, which
//! the driver provides. Where the image has this crate for another reason, they come here as
//! well ([`stdio`]).
//!
//! | Module | What is in it |
//! |---|---|
//! | `target` | what depends on the kind of GPU |
//! | `block` | the block of a host call |
//! | `string` | functions on texts and memory |
//! | `process` | the process and its environment |
//! | [`stdio`] | streams |
//! | `exceptions` | libstdc++'s functions that throw |
//! | `fortran` | Fortran's output and `stop` |
//!
//! Where nobody serves host calls, as under LLVM's `libomptarget`, what is written goes to
//! the driver's `vprintf`.

#![no_std]
#![cfg(gpu)]
#![feature(core_intrinsics, c_variadic, link_llvm_intrinsics)]
#![allow(internal_features)]

mod block;
mod exceptions;
mod fortran;
mod process;
mod stdio;
mod string;
mod target;

/// What the driver and the other members provide.
mod device {
    use core::ffi::{c_char, c_int, c_void};

    unsafe extern "C" {
        pub fn gangway_host_call(function: u64, block: *mut c_void, size: usize) -> c_int;
        pub fn malloc(bytes: u64) -> *mut c_void;
        pub fn free(memory: *mut c_void);
        /// The driver's `vprintf`, which the build gives its name.
        #[cfg(target_arch = "nvptx64")]
        pub fn __gangway_driver_vprintf(format: *const c_char, arguments: *const c_void) -> c_int;
    }

    /// AMD's driver prints nothing.
    ///
    /// # Safety
    /// None: nothing is read.
    #[cfg(target_arch = "amdgpu")]
    pub unsafe fn __gangway_driver_vprintf(_: *const c_char, _: *const c_void) -> c_int {
        -1
    }

    /// Waits a little, for the `attempt`th time.
    pub fn pause(attempt: u32) {
        crate::target::nanosleep(if attempt < 32 { 64 } else { 4096 });
    }

    /// Ends the kernel with a fault.
    pub fn trap() -> ! {
        core::intrinsics::abort()
    }
}

/// Compiled so that a panic is a trap, the crate reaches no handler; the compiler wants one.
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    device::trap()
}
