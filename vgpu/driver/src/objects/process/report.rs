//! What the library says to the program's user, on stderr.

use std::fmt;
use std::fs::File;
use std::io::Write;
use std::mem::ManuallyDrop;
use std::os::fd::FromRawFd;

/// Prints a line that begins with `gangway: `, as [`eprintln!`] does. Where the line cannot go (a
/// closed pipe, a full disk) it does nothing, since a panic must not reach the C caller.
macro_rules! report {
    ($($argument:tt)+) => {
        $crate::objects::process::report::line(format_args!($($argument)+))
    };
}
pub(crate) use report;

/// In one piece, so that lines of several threads do not mix. It does without the lock of the
/// standard library's stream: another thread may have held that when this process was forked.
pub fn line(text: fmt::Arguments<'_>) {
    // SAFETY: the standard stream stays open, or writing to it fails.
    let stream = ManuallyDrop::new(unsafe { File::from_raw_fd(libc::STDERR_FILENO) });
    let _ = (&*stream).write_all(format!("gangway: {text}\n").as_bytes());
}
