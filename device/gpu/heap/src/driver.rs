//! The heap of NVIDIA's driver.
//!
//! `malloc` and `free` are the driver's, and an image cannot both define and call
//! them. So the compiler gives the program's calls the names of the functions here: by what the build
//! puts in the place of NVIDIA's `libdevice`, which clang links into every unit of device code, and
//! flang because `gangway fc` says so (`xtask/src/gpu/libdevice.rs`). What clang compiles with a real CUDA toolkit
//! keeps the driver's.
//!
//! The driver's heap is one range of addresses. What comes from the host lies elsewhere, so an address
//! tells where a block goes back to. Each image knows the range only as far as its own blocks
//! have shown it: about a block of another image it asks the host, which knows its own.

use crate::{ALIGNMENT, allocate_on_host, free_on_host};
use core::ffi::{c_int, c_void};
use core::sync::atomic::{AtomicUsize, Ordering};

pub use gangway_host_call as host_call;

unsafe extern "C" {
    pub fn gangway_host_call(function: u64, block: *mut c_void, size: usize) -> c_int;
    fn malloc(bytes: usize) -> *mut c_void;
    fn free(memory: *mut c_void);
}

/// Blocks of the driver's heap lie between these, both included.
static LOWEST: AtomicUsize = AtomicUsize::new(usize::MAX);
static HIGHEST: AtomicUsize = AtomicUsize::new(0);

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
