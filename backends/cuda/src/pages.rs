//! Host memory that devices reach: pages of ours that the driver registers.
//!
//! Memory of the driver's own goes when a program resets the device, and what the runtime has there
//! with it: threads of ours that look at it, or fill it for a copy, would crash. These pages stay, and
//! the next call of the driver says what has happened. A forked child does not have them, as it
//! does not have the driver's.

use crate::context::Context;
use crate::driver::failure::{NOT_SUPPORTED, OUT_OF_MEMORY};
use crate::driver::types::{Code, HOST_MEMORY_FOR_ALL, SUCCESS};
use std::collections::BTreeMap;
use std::ffi::c_void;
use std::ptr::{self, NonNull};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The sizes of pages in use, by address.
static PAGES: Mutex<BTreeMap<usize, usize>> = Mutex::new(BTreeMap::new());

fn pages() -> MutexGuard<'static, BTreeMap<usize, usize>> {
    PAGES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Allocates as many bytes: the name of the driver's function, and its answer.
pub(crate) fn allocate(context: &Context, size: usize) -> (&'static str, Code, *mut c_void) {
    let Some(memory) = map(size) else { return ("mmap", OUT_OF_MEMORY, ptr::null_mut()) };
    let memory = memory.as_ptr();
    let code = context.code_within(|api| {
        // SAFETY: the pages are there, and registered until they go.
        unsafe { (api.memory_register_host)(memory, size, HOST_MEMORY_FOR_ALL) }
    });
    if code == SUCCESS {
        pages().insert(memory.addr(), size);
        return ("cuMemHostRegister", code, memory);
    }
    unmap(memory, size);
    if code != NOT_SUPPORTED {
        return ("cuMemHostRegister", code, ptr::null_mut());
    }
    let mut pointer = ptr::null_mut();
    let to = &raw mut pointer;
    // SAFETY: the driver writes one address.
    let code =
        context.code_within(|api| unsafe { (api.memory_allocate_host)(to, size, HOST_MEMORY_FOR_ALL) });
    ("cuMemHostAlloc", code, pointer)
}

/// Frees what [`allocate`] gave: the name of the driver's function, and its answer.
///
/// # Safety
/// It came from there, and nobody uses it.
pub(crate) unsafe fn free(context: &Context, memory: *mut c_void) -> (&'static str, Code) {
    let Some(size) = pages().remove(&memory.addr()) else {
        // SAFETY: the caller's promise.
        let code = context.code_within(|api| unsafe { (api.memory_free_host)(memory) });
        return ("cuMemFreeHost", code);
    };
    // SAFETY: the caller's promise.
    let code = context.code_within(|api| unsafe { (api.memory_unregister_host)(memory) });
    unmap(memory, size);
    ("cuMemHostUnregister", code)
}

fn map(size: usize) -> Option<NonNull<c_void>> {
    let (access, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
    // SAFETY: pages of the system's choice.
    let memory = unsafe { libc::mmap(ptr::null_mut(), size, access, flags, -1, 0) };
    if memory == libc::MAP_FAILED {
        return None;
    }
    // SAFETY: mapped above. A failure costs a child memory.
    unsafe { libc::madvise(memory, size, libc::MADV_DONTFORK) };
    NonNull::new(memory)
}

fn unmap(memory: *mut c_void, size: usize) {
    // SAFETY: mapped with this size, and nobody uses it.
    unsafe { libc::munmap(memory, size) };
}
