//! Whether the driver has been started in this process.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU8, Ordering};

use crate::device::Device;
use crate::error::{Result, Status};
use crate::trace;

const NOT_STARTED: u8 = 0;
const STARTED: u8 = 1;
/// A child of a process that had started the driver: none of its threads came along, so
/// nothing works, as with a real driver.
const FORKED: u8 = 2;

static STATE: AtomicU8 = AtomicU8::new(NOT_STARTED);

/// What every call asks first.
#[inline]
pub fn check_initialised() -> Result {
    if STATE.load(Ordering::Acquire) == STARTED { Ok(()) } else { Err(Status::NOT_INITIALIZED) }
}

/// Whether this is a child of a process that had started the driver.
pub fn is_forked() -> bool {
    STATE.load(Ordering::Acquire) == FORKED
}

/// `cuInit`
pub fn initialise() -> Result {
    if is_forked() {
        return Err(Status::NOT_INITIALIZED);
    }
    static ONCE: OnceLock<()> = OnceLock::new();
    ONCE.get_or_init(|| {
        extern "C" fn in_child() {
            STATE.store(FORKED, Ordering::Release);
            trace::stop();
        }
        trace::start();
        // SAFETY: the handler only stores to an atomic.
        unsafe { libc::pthread_atfork(None, None, Some(in_child)) };
    });
    if Device::all().is_empty() {
        return Err(Status::NO_DEVICE);
    }
    STATE.store(STARTED, Ordering::Release);
    Ok(())
}
