//! Whether the driver has been started in this process.
//!
//! A child that is forked before that may start it. A child that is forked later gets
//! `CUDA_ERROR_NOT_INITIALIZED` from every call that needs a started driver. It may exit or
//! execute another program. Locks that other threads held at the time stay locked in it, so
//! the calls that it may make take none.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, Ordering};

use super::trace;
use crate::abi::{Result, Status};

const NOT_STARTED: u8 = 0;
const STARTED: u8 = 1;
/// A child of a process that had started the driver: none of its threads came along, so
/// nothing works, as with a real driver.
const FORKED: u8 = 2;

static STATE: AtomicU8 = AtomicU8::new(NOT_STARTED);

/// An operation of a device has failed, which ends its context and mostly the program.
static FAILED: AtomicBool = AtomicBool::new(false);

/// Notes that an operation of a device has failed.
pub fn set_failed() {
    FAILED.store(true, Ordering::Relaxed);
}

/// Whether an operation of a device has failed: what the program has not freed then says nothing.
#[must_use]
pub fn has_failed() -> bool {
    FAILED.load(Ordering::Relaxed)
}

/// What every call asks first.
#[inline]
pub fn check_initialised() -> Result {
    if STATE.load(Ordering::Acquire) == STARTED { Ok(()) } else { Err(Status::NOT_INITIALIZED) }
}

/// Whether this is a child of a process that had started the driver.
#[must_use]
pub fn is_forked() -> bool {
    STATE.load(Ordering::Acquire) == FORKED
}

/// Whether this process may start the driver, or has. Another thread may have been starting
/// it when the process was forked: then no handler was in place yet, and a lock stays taken.
fn is_ours() -> bool {
    static OWNER: AtomicU32 = AtomicU32::new(0);
    let process = std::process::id();
    let owner = OWNER.compare_exchange(0, process, Ordering::AcqRel, Ordering::Acquire);
    if owner.is_err_and(|owner| owner != process) {
        STATE.store(FORKED, Ordering::Release);
    }
    !is_forked()
}

/// The first half of `cuInit`: the trace and the handler for forks. `CUDA_ERROR_NOT_INITIALIZED`
/// in a process that cannot start the driver.
pub fn prepare(calls: trace::Calls) -> Result {
    if !is_ours() {
        return Err(Status::NOT_INITIALIZED);
    }
    static ONCE: OnceLock<()> = OnceLock::new();
    if ONCE.get().is_none() {
        // Looking names up takes the loader's lock. A thread that is loading a library has it, and a constructor of
        // that library may come here: nobody asks the loader while others wait.
        let libraries_in_front = trace::InFront::find();
        ONCE.get_or_init(|| {
            extern "C" fn in_child() {
                STATE.store(FORKED, Ordering::Release);
                trace::stop();
            }
            libraries_in_front.tell_of_opening();
            trace::start(calls);
            // SAFETY: the handler only stores to an atomic.
            unsafe { libc::pthread_atfork(None, None, Some(in_child)) };
        });
    }
    Ok(())
}

/// The other half, once there are devices: from here on all calls are taken.
pub fn set_started() {
    STATE.store(STARTED, Ordering::Release);
}
