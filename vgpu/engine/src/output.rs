//! What kernels print: to the standard streams of the process.

use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};

unsafe extern "C" {
    /// The C library's stream: so what the host prints with `printf` and what kernels print stay in
    /// order.
    static stdout: *mut libc::FILE;
    fn ftrylockfile(stream: *mut libc::FILE) -> libc::c_int;
    fn funlockfile(stream: *mut libc::FILE);
}

/// A kernel has printed since the last launch that has ended.
static PRINTED: AtomicBool = AtomicBool::new(false);

/// Prints to the standard output.
pub(crate) fn print(text: &[u8]) {
    // SAFETY: the stream is the C library's own.
    unsafe { libc::fwrite(text.as_ptr().cast(), 1, text.len(), stdout) };
    PRINTED.store(true, Ordering::Release);
}

/// Makes what has been printed appear, as the end of a launch does. A launch that has printed nothing
/// waits for no thread that has the stream locked: one may do so for ever, with a pipe that is full.
pub(crate) fn flush() {
    if PRINTED.swap(false, Ordering::AcqRel) {
        // SAFETY: as above.
        unsafe { libc::fflush(stdout) };
        return;
    }
    // SAFETY: as above; what this thread locks it unlocks.
    unsafe {
        let stream = stdout;
        if ftrylockfile(stream) == 0 {
            libc::fflush(stream);
            funlockfile(stream);
        }
    }
}

/// Prints to the standard error.
pub(crate) fn complain(text: &str) {
    // A failure to write has nowhere to be reported.
    let _ = std::io::stderr().write_all(text.as_bytes());
}
