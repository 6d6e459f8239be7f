//! The end of the process.
//!
//! `exit` runs the program's exit handlers, among them the one that unregisters
//! its images, while other threads may still be in target regions. Taking the
//! images away then would turn an orderly end into a crash or an error message.
//! So at the end of the process libraries stay registered and images loaded: the
//! dynamic linker runs the images' destructors itself, and the memory goes with
//! the process. Only what a library's own unloading (`dlclose`) takes out is
//! taken out.

use std::sync::atomic::{AtomicBool, Ordering};

static ENDING: AtomicBool = AtomicBool::new(false);

/// Whether the process is ending.
#[must_use]
pub fn is_ending() -> bool {
    ENDING.load(Ordering::Acquire)
}

/// Makes the end of the process known before libraries registered so far are
/// unregistered by it: exit handlers run in reverse order. Called before each
/// loading of images, so a handful of times in a process.
#[cold]
pub fn watch() {
    extern "C" fn note() {
        ENDING.store(true, Ordering::Release);
    }
    // SAFETY: the handler stays loaded (the library is linked with `nodelete`).
    // Without room for one more handler the end is merely not noticed.
    unsafe { libc::atexit(note) };
}
