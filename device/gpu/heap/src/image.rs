//! `malloc` and `free` of code on AMD's GPUs.

use crate::{ALIGNMENT, allocate_on_host, free_on_host, own};
use core::ffi::{c_int, c_void};

type Call = unsafe extern "C" fn(u64, *mut c_void, usize) -> c_int;

unsafe extern "C" {
    /// Where the program calls the host: else the channel stays out of the image.
    #[linkage = "extern_weak"]
    static gangway_host_call: Option<Call>;
}

/// What is answered where nobody serves host calls.
const UNSERVED: c_int = 4;

/// # Safety
/// As for `gangway_host_call`.
pub unsafe fn host_call(function: u64, block: *mut c_void, size: usize) -> c_int {
    // SAFETY: as the caller says.
    unsafe { gangway_host_call.map_or(UNSERVED, |call| call(function, block, size)) }
}

/// `malloc` (C11 7.22.3.4).
#[unsafe(no_mangle)]
pub extern "C" fn malloc(bytes: usize) -> *mut c_void {
    let memory = own::allocate(bytes);
    if memory.is_null() && bytes != 0 { allocate_on_host(bytes, ALIGNMENT) } else { memory }
}

/// `free` (C11 7.22.3.3).
///
/// # Safety
/// The memory is of one of these functions and not in use, or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn free(memory: *mut c_void) {
    if own::has(memory) {
        // SAFETY: the caller's promise.
        unsafe { own::release(memory) };
    } else if !memory.is_null() {
        free_on_host(memory.addr());
    }
}
