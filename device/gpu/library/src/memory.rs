//! Bytes of memory.

use crate::export::export;
use core::ffi::{c_int, c_void};

/// Where the first `count` bytes have `letter`.
unsafe fn find(memory: *const u8, letter: u8, count: usize) -> Option<usize> {
    // SAFETY: the caller's memory has the bytes up to the letter.
    (0..count).find(|&at| unsafe { memory.add(at).read() } == letter)
}

export! {
    /// The first byte of a value.
    fn memchr(memory: *const c_void, letter: c_int, count: usize) -> *mut c_void {
        let found = find(memory.cast(), letter as u8, count);
        found.map_or(core::ptr::null_mut(), |at| memory.byte_add(at).cast_mut())
    }

    /// The last byte of a value.
    fn memrchr(memory: *const c_void, letter: c_int, count: usize) -> *mut c_void {
        let found = (0..count).rev().find(|&at| memory.cast::<u8>().add(at).read() == letter as u8);
        found.map_or(core::ptr::null_mut(), |at| memory.byte_add(at).cast_mut())
    }

    /// `memcpy` that answers where the copy ends.
    fn mempcpy(to: *mut c_void, from: *const c_void, count: usize) -> *mut c_void {
        core::ptr::copy_nonoverlapping(from.cast::<u8>(), to.cast::<u8>(), count);
        to.byte_add(count)
    }

    /// Copies up to and with a byte of a value, and answers where the copy ends.
    fn memccpy(to: *mut c_void, from: *const c_void, letter: c_int, count: usize) -> *mut c_void {
        let found = find(from.cast(), letter as u8, count);
        let length = found.map_or(count, |at| at + 1);
        core::ptr::copy_nonoverlapping(from.cast::<u8>(), to.cast::<u8>(), length);
        if found.is_some() { to.byte_add(length) } else { core::ptr::null_mut() }
    }

    /// Where the one memory has the other.
    fn memmem(memory: *const c_void, count: usize, part: *const c_void, length: usize) -> *mut c_void {
        let (memory, part) = (memory.cast::<u8>(), part.cast::<u8>());
        let Some(last) = count.checked_sub(length) else { return core::ptr::null_mut() };
        let found = (0..=last).find(|&at| (0..length).all(|index| {
            memory.add(at + index).read() == part.add(index).read()
        }));
        found.map_or(core::ptr::null_mut(), |at| memory.add(at).cast_mut().cast())
    }

    /// Zero if the bytes are the same.
    fn bcmp(left: *const c_void, right: *const c_void, count: usize) -> c_int {
        let (left, right) = (left.cast::<u8>(), right.cast::<u8>());
        c_int::from((0..count).any(|at| left.add(at).read() != right.add(at).read()))
    }

    /// Sets bytes to zero.
    fn bzero(memory: *mut c_void, count: usize) {
        core::ptr::write_bytes(memory.cast::<u8>(), 0, count);
    }
}
