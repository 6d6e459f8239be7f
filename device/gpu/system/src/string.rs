//! Texts of C.

use core::ffi::c_char;

/// The bytes of a text, without the null byte.
///
/// # Safety
/// The text ends with a null byte, and is not changed while it is in use.
pub unsafe fn bytes<'t>(text: *const c_char) -> &'t [u8] {
    // SAFETY: as the caller says.
    unsafe { at_most(text, usize::MAX) }
}

/// The same, where only the first `most` bytes are looked at.
///
/// # Safety
/// The text has so many bytes or ends with a null byte, and is not changed while it is in use.
pub unsafe fn at_most<'t>(text: *const c_char, most: usize) -> &'t [u8] {
    let mut length = 0;
    // SAFETY: as the caller says.
    while length < most && unsafe { text.add(length).read() } != 0 {
        length += 1;
    }
    // SAFETY: so many bytes have been read.
    unsafe { core::slice::from_raw_parts(text.cast(), length) }
}

/// So many bytes of anything.
///
/// # Safety
/// They are there, and are not changed while they are in use.
pub unsafe fn sized<'t>(start: *const u8, bytes: usize) -> &'t [u8] {
    // SAFETY: as the caller says.
    if bytes == 0 { &[] } else { unsafe { core::slice::from_raw_parts(start, bytes) } }
}
