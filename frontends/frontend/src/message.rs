//! Messages on standard error.

use std::fmt;
use std::io::Write;
use std::os::fd::FromRawFd;
use std::sync::atomic::{AtomicBool, Ordering};

static DEBUG: AtomicBool = AtomicBool::new(false);

/// Prints one line (or message of several) to standard error in one piece, so that those of
/// several threads do not mix.
///
/// Straight to the descriptor: the standard library's lock could stay locked for a forked
/// child, if another thread was printing at the fork.
pub fn print_line(text: fmt::Arguments<'_>) {
    let text = format!("{text}\n");
    // SAFETY: the descriptor is the process's for as long as it has one; it is not closed here.
    let mut error = std::mem::ManuallyDrop::new(unsafe { std::fs::File::from_raw_fd(libc::STDERR_FILENO) });
    // Nothing can be done about a closed standard error.
    let _ = error.write_all(text.as_bytes());
}

/// Prints with `GANGWAY_DEBUG` only.
pub fn debug(text: fmt::Arguments<'_>) {
    if is_debug() {
        print_line(format_args!("gangway: debug: {text}"));
    }
}

/// Whether [`debug`] prints.
#[inline]
#[must_use]
pub fn is_debug() -> bool {
    DEBUG.load(Ordering::Relaxed)
}

/// Has [`debug`] print from now on: a front end's own variable says so.
pub fn print_debug() {
    DEBUG.store(true, Ordering::Relaxed);
}

/// Reads `GANGWAY_DEBUG`; called once at start-up.
pub(crate) fn start() {
    DEBUG.fetch_or(crate::environment::is_on("GANGWAY_DEBUG"), Ordering::Relaxed);
}
