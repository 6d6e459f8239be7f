//! What kernels print: to the standard streams of the process.

use std::io::Write;

unsafe extern "C" {
    /// The C library's stream: so what the host prints with `printf` and what kernels print stay in
    /// order.
    static stdout: *mut libc::FILE;
}

/// Prints to the standard output.
pub(crate) fn print(text: &[u8]) {
    // SAFETY: the stream is the C library's own.
    unsafe { libc::fwrite(text.as_ptr().cast(), 1, text.len(), stdout) };
}

/// Makes what has been printed appear, as the end of a launch does.
pub(crate) fn flush() {
    // SAFETY: as above.
    unsafe { libc::fflush(stdout) };
}

/// Prints to the standard error.
pub(crate) fn complain(text: &str) {
    // A failure to write has nowhere to be reported.
    let _ = std::io::stderr().write_all(text.as_bytes());
}
