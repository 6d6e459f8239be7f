//! `malloc` of code on NVIDIA's GPUs: the driver's heap, and the host where that has no room.
//!
//! `malloc` and `free` themselves are the driver's, and an image cannot both define and call
//! them. So the compiler gives the program's calls the names of the functions here: by what the build
//! puts in the place of NVIDIA's `libdevice`, which clang links into every unit of device code, and
//! flang because `gangway fc` says so (`xtask/src/gpu/libdevice.rs`). What clang compiles with a real CUDA toolkit
//! keeps the driver's.
//!
//! The driver's heap is one range of addresses. What comes from the host lies elsewhere, so an address
//! tells where a block goes back to. Each image knows the range only as far as its own blocks
//! have shown it: about a block of another image it asks the host, which knows its own.

#![no_std]
#![cfg(gpu)]
#![feature(core_intrinsics)]
#![allow(internal_features)]

use core::ffi::{c_int, c_void};
use core::ptr::null_mut;
use core::sync::atomic::{AtomicUsize, Ordering};
use gangway_system::{FUNCTION, HEADER, Header, Operation};

unsafe extern "C" {
    fn gangway_host_call(function: u64, block: *mut c_void, size: usize) -> c_int;
    fn malloc(bytes: usize) -> *mut c_void;
    fn free(memory: *mut c_void);
}

/// Blocks of the driver's heap lie between these, both included.
static LOWEST: AtomicUsize = AtomicUsize::new(usize::MAX);
static HIGHEST: AtomicUsize = AtomicUsize::new(0);

/// The driver aligns its blocks so.
const ALIGNMENT: usize = 16;

/// What the host answers; 0 where nobody serves the call.
fn ask(operation: Operation, first: usize, second: usize) -> u64 {
    let mut block =
        Header { operation: operation as u64, first: first as u64, second: second as u64, length: 0 };
    // SAFETY: a header is a block.
    let outcome = unsafe { gangway_host_call(FUNCTION, (&raw mut block).cast(), HEADER) };
    if outcome == 0 { block.first } else { 0 }
}

#[cold]
#[inline(never)]
fn allocate_on_host(bytes: usize, alignment: usize) -> *mut c_void {
    match ask(Operation::Allocate, bytes, alignment) {
        u64::MAX => null_mut(),
        address => core::ptr::with_exposed_provenance_mut(address as usize),
    }
}

/// `malloc` (C11 7.22.3.4).
#[unsafe(no_mangle)]
pub extern "C" fn __gangway_malloc(bytes: usize) -> *mut c_void {
    // SAFETY: any size may be asked for.
    let memory = unsafe { malloc(bytes) };
    if memory.is_null() {
        return if bytes == 0 { memory } else { allocate_on_host(bytes, ALIGNMENT) };
    }
    let address = memory.addr();
    if address < LOWEST.load(Ordering::Relaxed) {
        LOWEST.fetch_min(address, Ordering::Relaxed);
    }
    if address > HIGHEST.load(Ordering::Relaxed) {
        HIGHEST.fetch_max(address, Ordering::Relaxed);
    }
    memory
}

/// `free` (C11 7.22.3.3).
///
/// # Safety
/// The memory is of one of these functions and not in use, or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __gangway_free(memory: *mut c_void) {
    if memory.is_null() {
        return;
    }
    // Whoever hands over a block hands over the bounds that its allocation has written. Bounds
    // read too early only lead to a question.
    let address = memory.addr();
    let known = LOWEST.load(Ordering::Relaxed) <= address && address <= HIGHEST.load(Ordering::Relaxed);
    if known || !free_on_host(address) {
        // SAFETY: the caller's promise.
        unsafe { free(memory) };
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
    let memory = __gangway_malloc(bytes);
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
        1..=ALIGNMENT if alignment.is_power_of_two() => __gangway_malloc(bytes),
        _ if alignment.is_power_of_two() && bytes != 0 => allocate_on_host(bytes, alignment),
        _ => null_mut(),
    }
}

/// Compiled so that a panic is a trap, the crate reaches no handler; the compiler wants one.
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    core::intrinsics::abort()
}
