//! The only way this crate reports an error: a line on standard error, then
//! the process ends.
//!
//! Called where going on would compute something wrong. Uses no formatting, so
//! that none of it is linked into images.

use core::ffi::{CStr, c_int, c_void};

unsafe extern "C" {
    fn write(descriptor: c_int, bytes: *const c_void, count: usize) -> isize;
    fn abort() -> !;
}

/// Writes `message`, which ends with a newline, and aborts the process.
pub fn fatal(message: &CStr) -> ! {
    // SAFETY: the bytes are those of a live CStr; a failed write to standard
    // error leaves nothing better to do than to abort all the same.
    unsafe {
        write(2, message.as_ptr().cast(), message.count_bytes());
        abort()
    }
}
