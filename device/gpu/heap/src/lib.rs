//! `malloc` of code on GPUs: the device's heap, and the host where that has no room.
//!
//! | Module | Whose heap |
//! |---|---|
//! | `driver` | the driver's, on NVIDIA's GPUs |
//! | `own` | the image's own, on AMD's, whose driver has none |
//! | `image` | `malloc` of it |
//! | `objects` | C++'s `new` of it |

#![no_std]
#![cfg(gpu)]
#![feature(core_intrinsics)]
#![cfg_attr(target_arch = "amdgpu", feature(linkage))]
#![allow(internal_features)]

#[cfg(target_arch = "nvptx64")]
mod driver;
#[cfg(target_arch = "amdgpu")]
mod image;
#[cfg(target_arch = "amdgpu")]
mod objects;
#[cfg(target_arch = "amdgpu")]
mod own;

use core::ffi::c_void;
use core::ptr::null_mut;
#[cfg(target_arch = "nvptx64")]
use driver::{__gangway_malloc as allocate, host_call};
use gangway_system::{FUNCTION, HEADER, Header, Operation};
#[cfg(target_arch = "amdgpu")]
use image::{host_call, malloc as allocate};

/// Blocks are aligned so.
const ALIGNMENT: usize = 16;

/// What the host answers; 0 where nobody serves the call.
fn ask(operation: Operation, first: usize, second: usize) -> u64 {
    let mut block =
        Header { operation: operation as u64, first: first as u64, second: second as u64, length: 0 };
    // SAFETY: a header is a block.
    let outcome = unsafe { host_call(FUNCTION, (&raw mut block).cast(), HEADER) };
    if outcome == 0 { block.first } else { 0 }
}

#[cold]
#[inline(never)]
fn allocate_on_host(bytes: usize, alignment: usize) -> *mut c_void {
    match ask(Operation::Allocate, bytes, alignment) {
        0 | u64::MAX => null_mut(),
        address => core::ptr::with_exposed_provenance_mut(address as usize),
    }
}

/// False: the host does not know the block.
#[cold]
#[inline(never)]
fn free_on_host(address: usize) -> bool {
    ask(Operation::Free, address, 0) == 1
}

/// `calloc` (C11 7.22.3.2).
#[unsafe(no_mangle)]
pub extern "C" fn calloc(count: usize, size: usize) -> *mut c_void {
    let Some(bytes) = count.checked_mul(size) else { return null_mut() };
    let memory = allocate(bytes);
    if !memory.is_null() {
        // SAFETY: the block has so many bytes.
        unsafe { memory.cast::<u8>().write_bytes(0, bytes) };
    }
    memory
}

/// `aligned_alloc` (C11 7.22.3.1).
#[unsafe(no_mangle)]
pub extern "C" fn aligned_alloc(alignment: usize, bytes: usize) -> *mut c_void {
    match alignment {
        1..=ALIGNMENT if alignment.is_power_of_two() => allocate(bytes),
        _ if alignment.is_power_of_two() && bytes != 0 => allocate_on_host(bytes, alignment),
        _ => null_mut(),
    }
}

/// Compiled so that a panic is a trap, the crate reaches no handler; the compiler wants one.
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    core::intrinsics::abort()
}
