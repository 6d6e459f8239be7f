//! What a library says when the process has no memory left for it.
//!
//! Rust's own words name no limit and no library, and a trace of the stack behind them needs
//! memory, too.

use std::alloc::{GlobalAlloc, Layout, System};

/// Larger requests may come from code that can do without.
const SMALL: usize = 16 << 10;

/// The system's allocator, for an artefact's `#[global_allocator]`. Where it has not even a little,
/// the process ends with a message.
#[derive(Debug)]
pub struct Memory;

#[cold]
fn end(size: usize) {
    if size > SMALL {
        return;
    }
    let mut text = [0; 160];
    let mut rest = &mut text[..];
    let _ = std::io::Write::write_fmt(
        &mut rest,
        format_args!(
            "gangway: error: the process has no memory left: {size} bytes wanted\n  \
             help: it has met a limit (ulimit -d, ulimit -v), or the machine has no more\n"
        ),
    );
    let left = rest.len();
    let said = &text[..text.len() - left];
    // SAFETY: a write of bytes that are there; then the process ends.
    unsafe {
        libc::write(libc::STDERR_FILENO, said.as_ptr().cast(), said.len());
        libc::abort();
    }
}

#[inline]
fn checked(pointer: *mut u8, size: usize) -> *mut u8 {
    if pointer.is_null() {
        end(size);
    }
    pointer
}

// SAFETY: all of it is the system's allocator.
unsafe impl GlobalAlloc for Memory {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promise.
        checked(unsafe { System.alloc(layout) }, layout.size())
    }

    #[inline]
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(pointer, layout) };
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promise.
        checked(unsafe { System.alloc_zeroed(layout) }, layout.size())
    }

    #[inline]
    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller's promise.
        checked(unsafe { System.realloc(pointer, layout, size) }, size)
    }
}
