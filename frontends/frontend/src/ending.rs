//! The end of the process.
//!
//! `exit` runs the program's exit handlers, among them the one that unregisters
//! its images, while other threads may still be in target regions. Taking the
//! images away then would turn an orderly end into a crash or an error message.
//! So at the end of the process libraries stay registered and images loaded: the
//! dynamic linker runs the destructors of images for CPUs itself, [`watch`]'s handler those of others, and
//! the memory goes with the process. Only what a library's own unloading (`dlclose`) takes out is
//! taken out. The memory that pools keep for later constructs goes back to the drivers; idle
//! streams stay, since a thread may be about to wait for one.

use crate::guard::guard;
use crate::state::RUNTIME;
use gangway_runtime::host_calls::calling_device;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

/// How long the exit handlers have after an error while other threads stand still.
const GRACE: Duration = Duration::from_secs(3);

/// How long flushing the program's streams may take before the process ends.
const FLUSHING: Duration = Duration::from_secs(1);

static ENDING: AtomicBool = AtomicBool::new(false);

/// Libraries registered so far, and how many of them the last handler is for.
static REGISTERED: AtomicUsize = AtomicUsize::new(0);
static WATCHED: AtomicUsize = AtomicUsize::new(0);

/// The process that an error ends, and the thread that it is left to.
static ENDS: AtomicU64 = AtomicU64::new(0);

/// Whether an error is ending the process: the first one has been told, and others follow from it.
#[must_use]
pub fn is_failing() -> bool {
    ENDS.load(Ordering::Acquire) >> 32 == u64::from(std::process::id())
}

/// Whether the process is ending.
#[must_use]
pub fn is_ending() -> bool {
    ENDING.load(Ordering::Acquire)
}

/// Returns to the one thread that ends the process because of an error, which calls `exit`.
///
/// `exit` is for one thread, and runs handlers of the program's. The first error is the one to
/// tell: what other threads meet from now on follows from it, or has no handlers left, so they
/// stand still. But a handler may wait for one of them, so that they end the process after
/// [`GRACE`]. An error of a handler ends it at once.
#[cold]
pub(crate) fn claim() {
    // SAFETY: these take nothing.
    let [process, thread] = unsafe { [libc::getpid(), libc::gettid()] }.map(|id| u64::from(id as u32));
    let own = process << 32 | thread;
    let claimed = ENDS.fetch_update(Ordering::AcqRel, Ordering::Acquire, |by| {
        // A child of the process that was ending has only the thread that forked.
        (by >> 32 != process).then_some(own)
    });
    match claimed {
        Ok(_) => ENDING.store(true, Ordering::Release),
        Err(by) if by == own => {
            flush_streams();
            // SAFETY: ends the process.
            unsafe { libc::_exit(libc::EXIT_FAILURE) }
        }
        Err(_) => {
            std::thread::sleep(GRACE);
            // SAFETY: ends the process.
            unsafe { libc::_exit(libc::EXIT_FAILURE) }
        }
    }
}

/// Flushes the program's own streams, before it ends without doing so. A thread that reads a
/// stream keeps it locked, so that flushing all may take for ever: it gets [`FLUSHING`]. What has
/// been written is out by then, since the standard streams come last, and of those the one that is read.
#[cold]
pub(crate) fn flush_streams() {
    let (done, is_done) = std::sync::mpsc::channel();
    let flush = move || {
        // SAFETY: null stands for all streams.
        unsafe { libc::fflush(std::ptr::null_mut()) };
        let _ = done.send(());
    };
    // Without a thread there is none to wait for.
    if std::thread::Builder::new().spawn(flush).is_ok() {
        let _ = is_done.recv_timeout(FLUSHING);
    }
}

/// A library has been registered, whose exit handler follows.
pub fn expect_unregistration() {
    REGISTERED.fetch_add(1, Ordering::AcqRel);
}

/// Makes the end of the process known before libraries registered so far are
/// unregistered by it: exit handlers run in reverse order. Called before images
/// are loaded, which a device that cannot be opened makes at every launch; one
/// handler for the same libraries is enough.
#[cold]
pub fn watch() {
    let registered = REGISTERED.load(Ordering::Acquire);
    if WATCHED.swap(registered, Ordering::AcqRel) == registered {
        return;
    }
    extern "C" fn note() {
        // Destructors of variables on devices, once: before those of the host's, and not after an error.
        // A kernel that has called this thread does not end.
        if !ENDING.swap(true, Ordering::AcqRel) && !is_failing() && calling_device().is_none() {
            guard((), || RUNTIME.finalize());
        }
    }
    // SAFETY: the handler stays loaded (the library is linked with `nodelete`).
    // Without room for one more handler the end is merely not noticed.
    unsafe { libc::atexit(note) };
}

/// Writes the report and the trace: now if the process is ending, else when it ends.
pub(crate) fn finish_trace() {
    static WAITING: AtomicBool = AtomicBool::new(false);
    extern "C" fn finish() {
        gangway_trace::finish();
    }
    if !is_ending() {
        if WAITING.swap(true, Ordering::AcqRel) {
            return;
        }
        // An exit handler may be added by another: the end may only be unnoticed.
        // SAFETY: the handler stays loaded (the library is linked with `nodelete`).
        if unsafe { libc::atexit(finish) } == 0 {
            return;
        }
    }
    finish();
}
