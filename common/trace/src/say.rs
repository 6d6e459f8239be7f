//! Messages for the user, on standard error.

use std::fs::File;
use std::io::Write;
use std::mem::ManuallyDrop;
use std::os::fd::FromRawFd;

use crate::files;

/// One line for the user.
pub fn say(message: &str) {
    say_raw(&format!("gangway: {message}\n"));
}

/// A text of lines.
pub fn say_raw(text: &str) {
    // Without the lock of the standard library's stream: a thread that a signal has stopped may
    // hold it.
    // SAFETY: the standard stream stays open, or writing to it fails.
    let stream = ManuallyDrop::new(unsafe { File::from_raw_fd(libc::STDERR_FILENO) });
    // A closed standard error is no reason to fail.
    let _ = files::undisturbed(|| (&*stream).write_all(text.as_bytes()));
}
