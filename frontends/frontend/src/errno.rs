//! `errno`, which is the program's while something of ours runs between two of its instructions.

use std::ffi::c_int;

/// Puts it back when it is dropped.
pub struct Errno(c_int);

impl Errno {
    pub fn keep() -> Self {
        // SAFETY: this thread's own.
        Self(unsafe { *libc::__errno_location() })
    }
}

impl Drop for Errno {
    fn drop(&mut self) {
        // SAFETY: as above.
        unsafe { *libc::__errno_location() = self.0 };
    }
}
